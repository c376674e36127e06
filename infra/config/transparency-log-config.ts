import { parseVerifierKey, parseWitnessKey } from '../audit-program/signed-checkpoint.ts'
import { type Config, ConfigError } from './config-types.ts'

/**
 * Decodes 32 random bytes from base64. Returns null if `text` is null. Throws `ConfigError` if
 * `text` is not base64, if the number of bytes is not 32, or if all bytes are equal.
 */
export function bytesOf(variable: string, text: string | null): Uint8Array | null {
  if (text === null) return null
  const bytes = Buffer.from(text, 'base64')
  if (
    bytes.length !== 32 ||
    bytes.toString('base64').replace(/=+$/, '') !== text.replace(/=+$/, '')
  ) {
    throw new ConfigError(variable, 'must be exactly 32 bytes, written as base64')
  }
  if (bytes.every((byte) => byte === bytes[0])) {
    throw new ConfigError(variable, 'must be random, not one byte repeated')
  }
  return bytes
}

const WITNESSES = 'TRANSPARENCY_LOG_WITNESSES'
const WITNESSED_KEYS = 'TRANSPARENCY_LOG_WITNESSED_KEYS'

/** Parses the settings of the transparency log. Throws `ConfigError`. */
export function transparencyLogOf(
  read: (name: string) => string | null,
): Config['transparencyLog'] {
  const witnesses = listOf(read(WITNESSES)).map(witnessOf)
  refuseRepeatedWitness(witnesses.map(({ key }) => key))
  const quorumText = read('TRANSPARENCY_LOG_QUORUM') ?? String(witnesses.length)
  const quorum = Number(quorumText)
  if (!/^\d{1,3}$/.test(quorumText) || quorum > witnesses.length) {
    const reason = `must be a whole number from 0 to ${witnesses.length}, the number of witnesses`
    throw new ConfigError('TRANSPARENCY_LOG_QUORUM', reason)
  }
  const witnessedKeys = listOf(read(WITNESSED_KEYS))
  for (const key of witnessedKeys) assertKey(WITNESSED_KEYS, key, parseVerifierKey)
  return {
    key: bytesOf('TRANSPARENCY_LOG_KEY', read('TRANSPARENCY_LOG_KEY')),
    witnesses,
    quorum,
    witnessedKeys,
    webhook: urlOf('TRANSPARENCY_LOG_WEBHOOK', read('TRANSPARENCY_LOG_WEBHOOK')),
    file: read('TRANSPARENCY_LOG_FILE'),
  }
}

/** Parses a list of texts that are separated by commas. */
export const listOf = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Parses one witness, written as its key, a space and its URL. */
function witnessOf(text: string): Config['transparencyLog']['witnesses'][number] {
  const [key = '', address = '', ...rest] = text.split(/\s+/)
  if (rest.length > 0) {
    const reason = `"${text}" must look like name+hash+key https://witness.example`
    throw new ConfigError(WITNESSES, reason)
  }
  assertKey(WITNESSES, key, parseWitnessKey)
  return { key, url: urlOf(WITNESSES, address || 'none') ?? '' }
}

/**
 * Throws `ConfigError` if `parse` does not accept a key. Without this check, a wrong key would be
 * noticed only when a checkpoint is published. As a result, no destination would receive
 * checkpoints.
 */
function assertKey(variable: string, key: string, parse: (text: string) => object): void {
  try {
    parse(key)
  } catch (error) {
    throw new ConfigError(variable, `"${key}": ${(error as Error).message}`)
  }
}

/**
 * Throws `ConfigError` if two witnesses have the same key, even under different names. The
 * signature of one site would otherwise count twice for the quorum. Also throws if two witnesses
 * have the same name, because signatures and refusals are recorded by this name.
 */
function refuseRepeatedWitness(keys: readonly string[]): void {
  const names = new Map<string, string>()
  for (const { name, publicKey } of keys.map(parseWitnessKey)) {
    const key = publicKey.toString('hex')
    const other = names.get(key)
    if (other !== undefined) {
      const reason = `"${name}" has the same key as "${other}": each witness needs its own one`
      throw new ConfigError(WITNESSES, reason)
    }
    if ([...names.values()].includes(name)) {
      throw new ConfigError(WITNESSES, `"${name}" has two keys: each witness needs its own name`)
    }
    names.set(key, name)
  }
}

function urlOf(variable: string, text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(variable, `"${text}" is not an http or https address`)
  }
  return url.href.replace(/\/$/, '')
}
