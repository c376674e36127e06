/** What the forms allow to those who make an account for themselves; admins may go beyond it. */
export const REGISTRATION_LIMITS = { usernameCharacters: 12, passwordCharacters: 20 } as const
