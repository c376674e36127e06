import { randomBytes } from 'node:crypto'

/**
 * Creates a system access token: 256 random bits with a prefix that distinguishes it from other
 * keys.
 */
export const newAccessToken = (): string => `sat_${randomBytes(32).toString('base64url')}`

/** Checks the format only, so that other texts are never looked up. */
export const isAccessToken = (text: string): boolean => /^sat_[\w-]{43}$/.test(text)
