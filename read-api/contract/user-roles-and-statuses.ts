/**
 * The numbers of the roles and statuses of users. The console imports these numbers from this file,
 * because the console must not import the domain.
 */
export {
  ACTIVE,
  ADMIN,
  AUDITOR,
  BANNED,
  SUPER_ADMIN,
  USER,
} from '#domain/shared/user-roles-and-statuses.ts'
