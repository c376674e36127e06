/** The roles of users as they are sent on the wire. */
export const USER = 1
export const ADMIN = 10
export const SUPER_ADMIN = 100

/** The statuses of users as they are sent on the wire. */
export const ACTIVE = 1
export const BANNED = 2
