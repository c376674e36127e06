/** Levels of users, as they are on the wire. */
export const USER = 1
export const ADMIN = 10
export const SUPER_ADMIN = 100

/** Status of users, likewise. */
export const ACTIVE = 1
export const BANNED = 2
