import type { Sealed } from '#domain/shared/event.ts'

export type SecretPurpose =
  | 'channel-key'
  | 'channel-proxy'
  | 'token-key'
  | 'redemption-key'
  | 'password'
  | 'option'
  | 'totp'
  | 'webhook'
  | 'message'

/** The purposes of keyed hashes. The same text has a different hash for each purpose. */
export type Pepper =
  | 'token-key'
  | 'redemption-key'
  | 'redemption-request'
  | 'username'
  | 'session'
  | 'setup'
  | 'address'
  | 'invite'
  | 'identity'
  | 'task-notify'
  | 'access-token'
  | 'recovery-code'
  | 'login-ticket'
  | 'passkey'
  | 'device'

/**
 * Stores what events must not hold. Secrets are encrypted with AES-256-GCM under a data key that
 * `SECRET_KEY` wraps; `owner` (`channel:3`) and purpose are bound as associated data.
 */
export interface Vault {
  /** Stores a secret and returns its reference, which events may contain. */
  putSecret(purpose: SecretPurpose, owner: string, plaintext: string): Promise<string>
  /** Throws when the reference is unknown, or belongs to another purpose or owner. */
  getSecret(purpose: SecretPurpose, owner: string, ref: string): Promise<string>
  /** Reads several secrets at once. Missing ones are absent from the result. */
  getSecrets(
    purpose: SecretPurpose,
    refs: readonly { readonly owner: string; readonly ref: string }[],
  ): Promise<Map<string, string>>
  deleteSecret(ref: string): Promise<void>
  /**
   * Returns the keyed hash (HMAC-SHA256, hex) by which a key or name is looked up without storing
   * it.
   */
  keyedHash(purpose: Pepper, text: string): string
  /** Encrypts with the user's data key, which is created on first use. */
  seal(userId: number, text: string): Promise<Sealed>
  /** Returns null once the user's data key has been destroyed. */
  open(userId: number, sealed: Sealed): Promise<string | null>
  /**
   * Destroys the user's data key and secrets irrevocably: nothing that was or will be sealed for
   * the user can be opened. Other processes forget the key within a minute.
   */
  destroyUser(userId: number): Promise<void>
  /**
   * Hashes with argon2id off the main thread, two passwords at a time, and returns a PHC string.
   * Throws `VaultBusy` when too many wait.
   */
  hashPassword(password: string): Promise<string>
  verifyPassword(password: string, hash: string): Promise<boolean>
}

/** A record of the vault exists and can't be decrypted, because it is damaged or was moved. */
export class UnreadableSecret extends Error {
  constructor(cause: unknown) {
    super('a record of the vault cannot be decrypted', { cause })
    this.name = 'UnreadableSecret'
  }
}

export class VaultBusy extends Error {
  constructor() {
    super('too many password checks are waiting')
    this.name = 'VaultBusy'
  }
}
