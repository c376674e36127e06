import { randomBytes } from 'node:crypto'

/** Creates a system access token: 256 random bits with the prefix `sat_`. */
export const newAccessToken = (): string => `sat_${randomBytes(32).toString('base64url')}`

/** Reports whether a text has the format of an access token. Other texts are never looked up. */
export const isAccessToken = (text: string): boolean => /^sat_[\w-]{43}$/.test(text)
