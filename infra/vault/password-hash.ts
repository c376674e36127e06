import { argon2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

export type HashCosts = { readonly memoryKib: number; readonly passes: number }

/**
 * The memory and the number of passes for new password hashes. Each stored hash contains the values
 * with which it was computed.
 */
export const HASH_COSTS: HashCosts = { memoryKib: 19_456, passes: 2 }
const LANES = 1
const SALT_BYTES = 16
const HASH_BYTES = 32
/**
 * The maximum number of bytes of a password that are hashed. They are enough for 128 characters in
 * any script. Longer passwords are cut, so that a long password can't cause more work.
 */
const PASSWORD_BYTES_MAX = 512

/**
 * Hashes with argon2id, one lane and the given costs (normally `HASH_COSTS`), and returns a PHC
 * string: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, base64 without padding (RFC 9106
 * parameters). Only worker threads may call this function, because the function blocks its thread
 * for tens of milliseconds.
 */
export function hashNow(password: string, { memoryKib, passes }: HashCosts): string {
  const salt = randomBytes(SALT_BYTES)
  const hash = derive(password, salt, memoryKib, passes, LANES)
  const parameters = `m=${memoryKib},t=${passes},p=${LANES}`
  return `$argon2id$v=19$${parameters}$${unpadded(salt)}$${unpadded(hash)}`
}

const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d)\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43})$/

/**
 * Verifies a password in constant time. Returns false if the stored hash has another format, or if
 * the password is too long to be hashed completely.
 */
export function verifyNow(password: string, phc: string): boolean {
  const match = PHC.exec(phc)
  if (match === null) return false
  const [, memory, passes, lanes, salt = '', hash = ''] = match
  const expected = Buffer.from(hash, 'base64')
  const actual = derive(
    password,
    Buffer.from(salt, 'base64'),
    Number(memory),
    Number(passes),
    Number(lanes),
  )
  return timingSafeEqual(expected, actual) && Buffer.byteLength(password) <= PASSWORD_BYTES_MAX
}

function derive(
  password: string,
  nonce: Buffer,
  memory: number,
  passes: number,
  parallelism: number,
): Buffer {
  const message = Buffer.from(password, 'utf8').subarray(0, PASSWORD_BYTES_MAX)
  return argon2Sync('argon2id', {
    message,
    nonce,
    memory,
    passes,
    parallelism,
    tagLength: HASH_BYTES,
  })
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')
