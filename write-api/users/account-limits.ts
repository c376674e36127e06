/** What the forms say, for every client; admins' scripts may give longer names. */
export const ACCOUNT_LIMITS = {
  usernameCharacters: 12,
  displayNameCharacters: 50,
} as const
