/** Of a new account, whoever makes it: what the forms say, for every client. */
export const ACCOUNT_LIMITS = {
  usernameCharacters: 12,
  passwordCharacters: 20,
  displayNameCharacters: 50,
} as const
