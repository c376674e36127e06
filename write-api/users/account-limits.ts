/** What the forms say, for every client; admins' scripts may give longer names and passwords. */
export const ACCOUNT_LIMITS = {
  usernameCharacters: 12,
  passwordCharacters: 20,
  displayNameCharacters: 50,
} as const
