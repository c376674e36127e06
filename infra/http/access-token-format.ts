import { randomBytes } from 'node:crypto'

/** Creates a system access token: 256 random bits with the prefix `sat_`. */
export const newAccessToken = (): string => `sat_${randomBytes(32).toString('base64url')}`

/** A text in another format is never looked up. */
export const isAccessToken = (text: string): boolean => /^sat_[\w-]{43}$/.test(text)
