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

/** The purposes of keyed hashes. A text has a different hash for each purpose. */
export type Pepper =
  | 'token-key'
  | 'redemption-key'
  | 'redemption-request'
  | 'adjustment-request'
  | 'username'
  | 'session'
  | 'setup'
  | 'address'
  | 'invite'
  | 'identity'
  | 'task-notify'
  | 'video-link'
  | 'access-token'
  | 'recovery-code'
  | 'login-ticket'
  | 'passkey'
  | 'audit-state'
  | 'device'
  | 'call-session'
  | 'realtime-secret'
  | 'transparency-log'
  | 'provider-host'
  | 'snapshot'

/**
 * Stores what events must not contain. Secrets are encrypted with AES-256-GCM under data keys,
 * which are themselves encrypted with a key from `SECRET_KEY`. The owner (such as `channel:3`) and
 * the purpose are bound as associated data.
 */
export interface Vault {
  /**
   * Stores a secret and returns its reference. Events may contain the reference, but not the
   * secret.
   */
  putSecret(purpose: SecretPurpose, owner: string, plaintext: string): Promise<string>
  /**
   * Returns the secret with this reference. Throws if the reference is unknown or belongs to
   * another purpose or owner.
   */
  getSecret(purpose: SecretPurpose, owner: string, ref: string): Promise<string>
  /** Returns several secrets by reference. A secret that does not exist has no entry. */
  getSecrets(
    purpose: SecretPurpose,
    refs: readonly { readonly owner: string; readonly ref: string }[],
  ): Promise<Map<string, string>>
  deleteSecret(ref: string): Promise<void>
  /**
   * Deletes a secret if `isUnused` reports that nothing refers to it. During this check,
   * `hasSecret` waits, so that the writer of a reference learns whether the secret was deleted.
   */
  deleteUnusedSecret(ref: string, isUnused: () => Promise<boolean>): Promise<void>
  /**
   * Reports whether a secret is stored. While `deleteUnusedSecret` checks the secret, this function
   * waits.
   */
  hasSecret(ref: string): Promise<boolean>
  /**
   * Returns the keyed hash (HMAC-SHA256, hex) of a key or name, so that the key or name can be
   * looked up without being stored.
   */
  keyedHash(purpose: Pepper, text: string): string
  /** Encrypts a text with the user's data key. The key is created on first use. */
  seal(userId: number, text: string): Promise<Sealed>
  /** Decrypts a text. Returns null when the user's data key has been destroyed. */
  open(userId: number, sealed: Sealed): Promise<string | null>
  /** Encrypts bytes as `seal` does, without a text encoding that would make them longer. */
  sealBytes(userId: number, bytes: Uint8Array): Promise<Buffer>
  /** Decrypts bytes of `sealBytes`. Returns null when the user's data key has been destroyed. */
  openBytes(userId: number, sealed: Uint8Array): Promise<Buffer | null>
  /**
   * Destroys the user's data key and secrets permanently. Earlier and later texts of the user can't
   * be decrypted. The promise resolves after half a second, when this holds in every process.
   * Before a process opens a text, it checks at most every half second whether keys that it caches
   * were destroyed.
   */
  destroyUser(userId: number): Promise<void>
  /** Returns the ids of the given users whose data keys are not destroyed. */
  withDataKey(userIds: readonly number[]): Promise<number[]>
  /**
   * Returns the progress of erasures. Between two equal results without unfinished erasures, nobody
   * was erased.
   */
  erasureProgress(): Promise<ErasureProgress>
  /**
   * Hashes a password with argon2id outside of the main thread. Returns a PHC string. Throws
   * `VaultBusy` if too many passwords wait.
   */
  hashPassword(password: string): Promise<string>
  verifyPassword(password: string, hash: string): Promise<boolean>
}

/** The number of erasures that have begun and not ended, and the number of destroyed data keys. */
export type ErasureProgress = { readonly unfinished: number; readonly destroyedKeys: number }

/** Thrown if a record of the vault can't be decrypted, because it is damaged or was moved. */
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
