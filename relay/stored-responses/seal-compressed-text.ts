import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'
import type { Sealed } from '#domain/shared/event.ts'
import type { Vault } from '#infra/vault/port.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** The maximum length in bytes of a text that is opened again. */
const TEXT_BYTES_MAX = 8 * 1024 * 1024

/** Compresses a text outside of the main thread, and encrypts it with the user's data key. */
export async function sealCompressed(
  vault: Pick<Vault, 'seal'>,
  userId: number,
  text: string | Buffer,
): Promise<Sealed> {
  const compressed = await deflate(text, { level: constants.Z_BEST_SPEED })
  return vault.seal(userId, compressed.toString('base64'))
}

/** Opens a text of `sealCompressed`. Returns null if the user was erased. */
export async function openCompressed(
  vault: Pick<Vault, 'open'>,
  userId: number,
  sealed: Sealed,
): Promise<string | null> {
  const text = await vault.open(userId, sealed)
  if (text === null) return null
  const bytes = await inflate(Buffer.from(text, 'base64'), { maxOutputLength: TEXT_BYTES_MAX })
  return bytes.toString('utf8')
}
