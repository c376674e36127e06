import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'
import type { Vault } from '#infra/vault/port.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** The maximum length in bytes of a decompressed text. */
const TEXT_BYTES_MAX = 8 * 1024 * 1024

/** Compresses a text outside of the main thread, and encrypts it with the user's data key. */
export async function sealCompressed(
  vault: Pick<Vault, 'sealBytes'>,
  userId: number,
  text: string | Buffer,
): Promise<Buffer> {
  const compressed = await deflate(text, { level: constants.Z_BEST_SPEED })
  return vault.sealBytes(userId, compressed)
}

/**
 * Decrypts and decompresses a text that `sealCompressed` made. Returns null if the user was erased.
 */
export async function openCompressed(
  vault: Pick<Vault, 'openBytes'>,
  userId: number,
  sealed: Uint8Array,
): Promise<string | null> {
  const compressed = await vault.openBytes(userId, sealed)
  if (compressed === null) return null
  const bytes = await inflate(compressed, { maxOutputLength: TEXT_BYTES_MAX })
  return bytes.toString('utf8')
}
