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

/** What texts are hashed for: the same text has another hash for another purpose. */
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
 * Keeps what events must not hold. Secrets are AES-256-GCM encrypted under a data key that
 * `SECRET_KEY` wraps; `owner` (`channel:3`) and purpose are bound in as associated data.
 */
export interface Vault {
  /** Stores a secret and answers its reference, for an event to carry. */
  putSecret(purpose: SecretPurpose, owner: string, plaintext: string): Promise<string>
  /** Throws when the reference is unknown or belongs to another purpose or owner. */
  getSecret(purpose: SecretPurpose, owner: string, ref: string): Promise<string>
  /** Many at once: missing ones are absent from the answer. */
  getSecrets(
    purpose: SecretPurpose,
    refs: readonly { readonly owner: string; readonly ref: string }[],
  ): Promise<Map<string, string>>
  deleteSecret(ref: string): Promise<void>
  /** Keyed hash (HMAC-SHA256, hex) by which a key or name is found without keeping it. */
  keyedHash(purpose: Pepper, text: string): string
  /** Encrypts with the user's own data key, made on first use. */
  seal(userId: number, text: string): Promise<Sealed>
  /** null once the user's data key has been destroyed. */
  open(userId: number, sealed: Sealed): Promise<string | null>
  /**
   * Destroys the user's data key and secrets, for good: what was sealed is noise, and what is
   * sealed from now on can be opened by nobody. Other processes forget the key within a minute.
   */
  destroyUser(userId: number): Promise<void>
  /** argon2id off the main thread, two at a time; PHC string. `VaultBusy` when too many wait. */
  hashPassword(password: string): Promise<string>
  verifyPassword(password: string, hash: string): Promise<boolean>
}

/** A record of the vault that is there, but can't be decrypted: damaged, or moved elsewhere. */
export class UnreadableSecret extends Error {
  constructor(cause: unknown) {
    super('a record of the vault can not be decrypted', { cause })
    this.name = 'UnreadableSecret'
  }
}

export class VaultBusy extends Error {
  constructor() {
    super('too many password checks are waiting')
    this.name = 'VaultBusy'
  }
}
