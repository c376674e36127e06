/** The numbers of roles and statuses of users, for the console, which cannot import the domain. */
export { ACTIVE, ADMIN, AUDITOR, BANNED, SUPER_ADMIN, USER } from '#domain/shared/roles.ts'
