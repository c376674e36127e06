/** The numbers of the user roles in the API. */
export const USER = 1
/** An auditor has the rights of a normal user, and may also read the audit section. */
export const AUDITOR = 5
export const ADMIN = 10
export const SUPER_ADMIN = 100

/** The numbers of the user statuses in the API. */
export const ACTIVE = 1
export const BANNED = 2
