import { type Config, ConfigError } from './config.ts'

/** Parses 32 random bytes in base64. Throws `ConfigError`. */
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

/** A public key in the form of C2SP signed-note. */
const VERIFIER_KEY = /^[^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/

/** Parses the settings of the transparency log. Throws `ConfigError`. */
export function transparencyLogOf(
  read: (name: string) => string | null,
): Config['transparencyLog'] {
  const witnesses = listOf(read('TRANSPARENCY_LOG_WITNESSES')).map(witnessOf)
  const quorumText = read('TRANSPARENCY_LOG_QUORUM') ?? String(witnesses.length)
  const quorum = Number(quorumText)
  if (!/^\d{1,3}$/.test(quorumText) || quorum > witnesses.length) {
    const reason = `must be a whole number from 0 to ${witnesses.length}, the number of witnesses`
    throw new ConfigError('TRANSPARENCY_LOG_QUORUM', reason)
  }
  const witnessedKeys = listOf(read('TRANSPARENCY_LOG_WITNESSED_KEYS'))
  const wrong = witnessedKeys.find((key) => !VERIFIER_KEY.test(key))
  if (wrong !== undefined) {
    throw new ConfigError('TRANSPARENCY_LOG_WITNESSED_KEYS', `"${wrong}" is not name+hash+key`)
  }
  return {
    key: bytesOf('TRANSPARENCY_LOG_KEY', read('TRANSPARENCY_LOG_KEY')),
    witnesses,
    quorum,
    witnessedKeys,
    webhook: urlOf('TRANSPARENCY_LOG_WEBHOOK', read('TRANSPARENCY_LOG_WEBHOOK')),
    file: read('TRANSPARENCY_LOG_FILE'),
  }
}

const listOf = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

/** Parses a witness: its key and its address, with a space between. */
function witnessOf(text: string): Config['transparencyLog']['witnesses'][number] {
  const [key = '', address = '', ...rest] = text.split(/\s+/)
  if (!VERIFIER_KEY.test(key) || rest.length > 0) {
    const reason = `"${text}" must look like name+hash+key https://witness.example`
    throw new ConfigError('TRANSPARENCY_LOG_WITNESSES', reason)
  }
  return { key, url: urlOf('TRANSPARENCY_LOG_WITNESSES', address || 'none') ?? '' }
}

function urlOf(variable: string, text: string | null): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(variable, `"${text}" is not an http or https address`)
  }
  return url.href.replace(/\/$/, '')
}
