import { randomBytes } from 'node:crypto'

/** A system access token: 256 random bits, told from other keys by how it begins. */
export const newAccessToken = (): string => `sat_${randomBytes(32).toString('base64url')}`

/** By its form alone: what can't be one is never looked up. */
export const isAccessToken = (text: string): boolean => /^sat_[\w-]{43}$/.test(text)
