import { createSecretKey, hash, hkdfSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Pool } from 'pg'
import { decrypt, encrypt } from './cipher.ts'
import type { Pepper } from './port.ts'

const BLOCK_BYTES = 64
const TEXT_BYTES_MAX = 1_024

/**
 * Creates a function that computes HMAC-SHA256 (RFC 2104) with one key, in hex. `createHmac` would
 * take ten times as long, mostly because it wraps the key at every call.
 */
export function createKeyedHash(key: Uint8Array): (text: string) => string {
  if (key.length > BLOCK_BYTES) throw new Error(`a key of at most ${BLOCK_BYTES} bytes`)
  const inner = Buffer.alloc(BLOCK_BYTES + TEXT_BYTES_MAX, padded(key, 0x36))
  const outer = Buffer.alloc(BLOCK_BYTES + 32, padded(key, 0x5c))
  return (text) => {
    const bytes = Buffer.byteLength(text)
    const message =
      bytes > TEXT_BYTES_MAX
        ? Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(text)])
        : inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES))
    outer.set(hash('sha256', message, 'buffer'), BLOCK_BYTES)
    return hash('sha256', outer, 'hex')
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad)
  for (const [index, byte] of key.entries()) block[index] = byte ^ pad
  return block
}

/** Thrown if the database's secrets were encrypted under another `SECRET_KEY`. */
export class WrongSecretKey extends Error {
  readonly isOperatorError = true
  constructor() {
    super(
      'SECRET_KEY is not the one that this database was set up with, so its provider keys, ' +
        'tokens and passwords cannot be read: start with the original key',
    )
    this.name = 'WrongSecretKey'
  }
}

type DataKey = { readonly key: KeyObject; readonly wrapped: Buffer }

export type KeyRing = {
  /**
   * The id of the key that encrypts the data keys. This id is stored with each data key, so that
   * the encrypting key can be replaced later.
   */
  readonly kid: string
  newDataKey(context: string): DataKey
  unwrap(context: string, wrapped: Uint8Array): KeyObject
  keyedHash(purpose: Pepper, text: string): string
}

/** Derives the keys of the vault from the 32 bytes of `SECRET_KEY`, one key per purpose. */
export function createKeyRing(secretKey: Uint8Array): KeyRing {
  if (secretKey.length !== 32) throw new Error('the secret key must have 32 bytes')
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', secretKey, 'tallygate', purpose, 32))
  const wrapping = createSecretKey(derive('wrap'))
  const peppered = (purpose: Pepper) => createKeyedHash(derive(`pepper:${purpose}`))
  const hashes: Record<Pepper, (text: string) => string> = {
    'token-key': peppered('token-key'),
    'redemption-key': peppered('redemption-key'),
    'redemption-request': peppered('redemption-request'),
    'adjustment-request': peppered('adjustment-request'),
    username: peppered('username'),
    session: peppered('session'),
    setup: peppered('setup'),
    address: peppered('address'),
    invite: peppered('invite'),
    identity: peppered('identity'),
    'task-notify': peppered('task-notify'),
    'video-link': peppered('video-link'),
    'access-token': peppered('access-token'),
    'recovery-code': peppered('recovery-code'),
    'login-ticket': peppered('login-ticket'),
    passkey: peppered('passkey'),
    device: peppered('device'),
    'call-session': peppered('call-session'),
    'realtime-secret': peppered('realtime-secret'),
    'transparency-log': peppered('transparency-log'),
    'audit-state': peppered('audit-state'),
    'provider-host': peppered('provider-host'),
    snapshot: peppered('snapshot'),
  }
  return {
    kid: derive('kid').toString('hex').slice(0, 16),
    newDataKey: (context) => {
      const bytes = randomBytes(32)
      return { key: createSecretKey(bytes), wrapped: encrypt(wrapping, context, bytes) }
    },
    unwrap: (context, wrapped) => createSecretKey(decrypt(wrapping, context, wrapped)),
    keyedHash: (purpose, text) => hashes[purpose](text),
  }
}

export async function checkSecretKey(pg: Pool, kid: string): Promise<void> {
  await pg.query(
    'insert into vault.wrapping_key (id, kid) values (1, $1) on conflict (id) do nothing',
    [kid],
  )
  const { rows } = await pg.query<{ kid: string }>('select kid from vault.wrapping_key')
  if (rows[0]?.kid !== kid) throw new WrongSecretKey()
}
