import { randomInt } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { redemptionDecider, redemptionIdsDecider } from '#domain/redemptions/decide.ts'
import {
  REDEMPTION_IDS_STREAM,
  type RedemptionRequest,
  type RedemptionTerms,
  redemptionStream,
} from '#domain/redemptions/events.ts'
import { isName } from '#domain/shared/check-characters.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { success } from '#infra/http/response-envelope.ts'
import type { Vault } from '#infra/vault/port.ts'
import { REDEMPTION_COUNT_MAX } from '#read-api/contract/redemption-fields.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { redemptionActions } from '../contract/redemptions.ts'
import { validationMessage } from '../error-messages-for-invalid-values.ts'
import { redemptionError } from './redemption-errors.ts'
import {
  applyRedemptionFields,
  checkValidUntil,
  INITIAL_TERMS,
} from './redemption-terms-from-request.ts'

/**
 * The characters of generated keys. Characters that look alike, such as `0` and `O`, are left out,
 * because keys are printed and typed.
 */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/**
 * The minimum length of a custom key. A shorter key could be guessed within days, despite the limit
 * on wrong codes.
 */
const CUSTOM_KEY_MIN = 4
/** The length of a generated key. A generated key has 160 random bits. */
const CHARACTERS = 32

const newRedemptionKey = (): string =>
  Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** Converts 32 random bytes to a key. Each byte determines one character (5 bits). */
const redemptionKeyFrom = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

const redemptionKeyOwner = (redemptionId: number): string => `redemption:${redemptionId}`

/**
 * Returns a custom key without surrounding spaces. An empty key is returned as it is. Throws if the
 * key is too short or contains characters that cannot be typed. Keys are exported to files, so a
 * key that a spreadsheet would run as a formula is rejected too.
 */
function customKeyOf(input: string): string {
  const key = input.trim()
  if (!isName(key) || /\s|^[=+\-@]/.test(key)) {
    throw invalidField('key', validationMessage({ error: 'bad-character' }))
  }
  if (key !== '' && [...key].length < CUSTOM_KEY_MIN) {
    throw redemptionError('RedemptionKeyTooShort', { least: CUSTOM_KEY_MIN })
  }
  return key
}

type CodeBatch = {
  readonly keys: readonly string[]
  readonly terms: RedemptionTerms
  /**
   * Identifies the HTTP request, so that a repeated request does not create the codes again. Null
   * if the request has no `Idempotency-Key`. Such a request always creates new codes.
   */
  readonly request: RedemptionRequest | null
}

/**
 * The maximum number of attempts to assign ids. An attempt fails if another process has assigned
 * the same ids.
 */
const ATTEMPTS_MAX = 100

/**
 * Creates all codes in one append and returns the position of the append. For a repeated request,
 * creates nothing and returns the latest position of the store.
 */
async function createCodes(
  deps: Deps,
  { keys, ...batch }: CodeBatch,
  context: CommandContext,
): Promise<number> {
  const { actors, store, vault } = deps.core
  // The lock only applies to this process. If another process chooses the same ids, only one of
  // them can append to the stream that assigns ids.
  return deps.runExclusive('redemption-ids', async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { highest } = await actors.stateOf(redemptionIdsDecider, REDEMPTION_IDS_STREAM)
      const first = highest + 1
      const codes = await storeKeys(deps, keys, first)
      const outcome = await actors.handleTogether(stepsFor(codes, batch, first), context)
      if (outcome.isDone) return outcome.position
      await Promise.all(codes.map(({ keyRef }) => vault.deleteSecret(keyRef)))
      if (outcome.error.code === 'RedemptionsMade') return store.headPosition()
      const isIdTaken = outcome.error.code === 'RedemptionIdTaken'
      if (!isIdTaken || attempt >= ATTEMPTS_MAX) accepted(outcome)
    }
  })
}

type NewCode = Awaited<ReturnType<typeof storeKeys>>[number]

const storeKeys = ({ core: { vault } }: Deps, keys: readonly string[], first: number) =>
  Promise.all(
    keys.map(async (key, index) => {
      const redemptionId = first + index
      const owner = redemptionKeyOwner(redemptionId)
      const keyRef = await vault.putSecret('redemption-key', owner, key)
      const keyLookup = vault.keyedHash('redemption-key', key)
      return { redemptionId, keyLookup, keyRef, keyHint: hintOf(key) }
    }),
  )

/**
 * Returns the last four characters of a key. For a short key, returns an empty text, because four
 * characters would reveal too much.
 */
const hintOf = (key: string): string => {
  const characters = [...key]
  return characters.length < 12 ? '' : characters.slice(-4).join('')
}

/**
 * Returns the steps (commands to single streams) that create codes. NOTE: the step that assigns the
 * ids comes first. A store without atomic appends to several streams must assign ids before it
 * creates codes.
 */
const stepsFor = (
  codes: readonly NewCode[],
  { terms, request }: Omit<CodeBatch, 'keys'>,
  first: number,
): AnyStep[] => [
  {
    decider: redemptionIdsDecider,
    stream: REDEMPTION_IDS_STREAM,
    command: {
      type: 'AssignRedemptionIds',
      first,
      count: codes.length,
      ...(request === null ? {} : { request }),
    },
  },
  ...codes.map((code) => ({
    decider: redemptionDecider,
    stream: redemptionStream(code.keyLookup),
    command: { type: 'CreateRedemption', ...code, terms },
  })),
]

/** The syntax of the header `Idempotency-Key`. The relay accepts the same syntax. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/

type RepeatableRequest = {
  readonly request: RedemptionRequest
  /**
   * Returns the key of the code with this index. The key is derived from the sender and the
   * `Idempotency-Key`, so a repeated request gets the same keys without a look at stored keys.
   */
  readonly keyAt: (index: number) => string
}

/**
 * Returns the identity of a request, which consists of the sender, the `Idempotency-Key` and the
 * content. A client that did not receive the response can therefore repeat the request. Returns
 * null if the header is missing.
 */
function repeatableOf(
  vault: Pick<Vault, 'keyedHash'>,
  request: FastifyRequest,
  content: object,
): RepeatableRequest | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    const error = {
      zh: '必须是 1-255 个可见的 ASCII 字符',
      en: 'must be 1 to 255 visible ASCII characters',
    }
    throw invalidField('Idempotency-Key', error)
  }
  const hash = (text: string): string => vault.keyedHash('redemption-request', text)
  const sender = `${principalOf(request).userId} ${key}`
  return {
    request: {
      key: hash(`request ${sender}`),
      content: hash(`content ${JSON.stringify(content)}`),
    },
    keyAt: (index) => redemptionKeyFrom(Buffer.from(hash(`key ${index} ${sender}`), 'hex')),
  }
}

/**
 * POST /api/redemption/: creates `count` codes and returns their keys. With the same
 * `Idempotency-Key`, a repeated request returns the same keys.
 */
export const createRedemption: Action = (api, deps) => {
  api.route({
    ...endpoint(redemptionActions, 'POST /api/redemption/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { count = 1, key = '', ...fields } = request.body
      const terms = await applyRedemptionFields(INITIAL_TERMS, fields)
      checkValidUntil(terms, INITIAL_TERMS, deps.core.now())
      const repeatable = repeatableOf(deps.core.vault, request, { count, key: key.trim(), terms })
      const keys = keysFor(count, key, repeatable)
      const context = contextOf(deps, request)
      const batch = { keys, terms, request: repeatable?.request ?? null }
      const position = await createCodes(deps, batch, context)
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success([...keys])
    },
  })
}

function keysFor(
  count: number,
  input: string,
  repeatable: RepeatableRequest | null,
): readonly string[] {
  if (count <= 0) throw redemptionError('RedemptionCountTooSmall')
  if (count > REDEMPTION_COUNT_MAX) {
    throw redemptionError('RedemptionCountTooLarge', { max: REDEMPTION_COUNT_MAX })
  }
  const key = customKeyOf(input)
  if (key === '') {
    return Array.from({ length: count }, (_, n) => repeatable?.keyAt(n) ?? newRedemptionKey())
  }
  if (count > 1) throw redemptionError('OneKeyOneCode')
  return [key]
}
