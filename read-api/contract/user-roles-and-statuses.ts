/**
 * The numbers that stand for the roles and statuses of users. The console imports them from here,
 * because it must not import the domain.
 */
export {
  ACTIVE,
  ADMIN,
  AUDITOR,
  BANNED,
  SUPER_ADMIN,
  USER,
} from '#domain/shared/user-roles-and-statuses.ts'
