import { randomInt } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { redemptionDecider } from '#domain/redemption/decide.ts'
import {
  REDEMPTION_IDS_STREAM,
  type RedemptionRequest,
  type RedemptionTerms,
  redemptionStream,
} from '#domain/redemption/events.ts'
import { redemptionIdsDecider } from '#domain/redemption/take-ids.ts'
import { isName } from '#domain/shared/characters.ts'
import type { AnyStep, CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin, principalOf } from '#infra/http/access.ts'
import { success } from '#infra/http/envelope.ts'
import { invalidField } from '#infra/http/http-errors.ts'
import type { Vault } from '#infra/vault/port.ts'
import { Envelope } from '#read-api/contract/envelope.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { CreateRedemption, REDEMPTION_COUNT_MAX } from '../contract/redemptions.ts'
import { validationWords } from '../validation-words.ts'
import { redemptionError } from './redemption-errors.ts'
import { checkValidUntil, NO_TERMS, termsWith } from './redemption-terms.ts'

/** None that is easily taken for another one: keys are printed, and typed in. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** Fewer are found by trying, within the limits of wrong codes, in days. */
const OWN_KEY_MIN = 4
/** 160 random bits. */
const CHARACTERS = 32

const newRedemptionKey = (): string =>
  Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** As hard to guess as the first 20 of its 32 bytes are. */
const redemptionKeyFrom = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

const redemptionKeyOwner = (redemptionId: number): string => `redemption:${redemptionId}`

/**
 * Throws for one that nobody could type, and for one that a spreadsheet would take for a formula:
 * a list of keys is a file, too. Spaces around it don't count.
 */
function ownKeyOf(given: string): string {
  const key = given.trim()
  if (!isName(key) || /\s|^[=+\-@]/.test(key)) {
    throw invalidField('key', validationWords({ fault: 'bad-character' }))
  }
  if (key !== '' && [...key].length < OWN_KEY_MIN) {
    throw redemptionError('RedemptionKeyTooShort', { least: OWN_KEY_MIN })
  }
  return key
}

type Wanted = {
  readonly keys: readonly string[]
  /** Of each. */
  readonly terms: RedemptionTerms
  /** What asks for them, and has them made once; null: each time that it comes. */
  readonly request: RedemptionRequest | null
}

/** Tries while other processes take ids at the same time. */
const TRIES_MAX = 100

/**
 * All in one append, their ids with them, or nothing. Answers the position; of a request that made
 * them before, one behind them.
 */
async function makeRedemptions(
  deps: Deps,
  { keys, ...wanted }: Wanted,
  context: CommandContext,
): Promise<number> {
  const { actors, store, vault } = deps.core
  // One at a time in this process; between processes the stream of the ids decides.
  return deps.runExclusive('redemption-ids', async () => {
    for (let attempt = 1; ; attempt += 1) {
      const { highest } = await actors.stateOf(redemptionIdsDecider, REDEMPTION_IDS_STREAM)
      const first = highest + 1
      const codes = await keptKeys(deps, keys, first)
      const outcome = await actors.handleTogether(stepsFor(codes, wanted, first), context)
      if (outcome.isDone) return outcome.position
      await Promise.all(codes.map(({ keyRef }) => vault.deleteSecret(keyRef)))
      if (outcome.error.code === 'RedemptionsMade') return store.headPosition()
      const isLate = outcome.error.code === 'RedemptionIdTaken'
      if (!isLate || attempt >= TRIES_MAX) accepted(outcome)
    }
  })
}

type NewCode = Awaited<ReturnType<typeof keptKeys>>[number]

const keptKeys = ({ core: { vault } }: Deps, keys: readonly string[], first: number) =>
  Promise.all(
    keys.map(async (key, index) => {
      const redemptionId = first + index
      const owner = redemptionKeyOwner(redemptionId)
      const keyRef = await vault.putSecret('redemption-key', owner, key)
      const keyLookup = vault.keyedHash('redemption-key', key)
      return { redemptionId, keyLookup, keyRef, keyHint: hintOf(key) }
    }),
  )

/** Of a short key, four characters would say too much. */
const hintOf = (key: string): string => {
  const characters = [...key]
  return characters.length < 12 ? '' : characters.slice(-4).join('')
}

/** NOTE: where the store can't write them all at once, the ids have to be taken first. */
const stepsFor = (
  codes: readonly NewCode[],
  { terms, request }: Omit<Wanted, 'keys'>,
  first: number,
): AnyStep[] => [
  {
    decider: redemptionIdsDecider,
    stream: REDEMPTION_IDS_STREAM,
    command: {
      ...{ type: 'TakeRedemptionIds', first, count: codes.length },
      ...(request === null ? {} : { request }),
    },
  },
  ...codes.map((code) => ({
    decider: redemptionDecider,
    stream: redemptionStream(code.keyLookup),
    command: { type: 'CreateRedemption', ...code, terms },
  })),
]

/** As the relay takes them. */
const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/

type Repeatable = {
  readonly request: RedemptionRequest
  /** The same for each repeat: nothing needs to be kept, to be answered again. */
  readonly keyAt: (index: number) => string
}

/**
 * What a request with an `Idempotency-Key` is known by, once its answer was lost: its sender, the
 * key and what it asks for. null without the header.
 */
function repeatableOf(
  vault: Pick<Vault, 'keyedHash'>,
  request: FastifyRequest,
  asked: object,
): Repeatable | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !KEY.test(key)) {
    const fault = { zh: '必须是 1-255 个可见的 ASCII 字符', en: 'must be 1-255 ASCII characters' }
    throw invalidField('Idempotency-Key', fault)
  }
  const hash = (text: string): string => vault.keyedHash('redemption-request', text)
  const sent = `${principalOf(request).userId} ${key}`
  return {
    request: { key: hash(`request ${sent}`), content: hash(`content ${JSON.stringify(asked)}`) },
    keyAt: (index) => redemptionKeyFrom(Buffer.from(hash(`key ${index} ${sent}`), 'hex')),
  }
}

/** POST /api/redemption/: one code or `count` alike; answers their keys, a repeat's too. */
export const createRedemption: Action = (api, deps) => {
  api.post(
    '/api/redemption/',
    {
      onRequest: onlyAdmin,
      schema: {
        summary:
          'Create a redemption code, or count of them; answers their keys, the same ones to ' +
          'a repeat with the same Idempotency-Key header',
        body: CreateRedemption,
        response: { 200: Envelope(Type.Array(Type.String())) },
      },
    },
    async (request, reply) => {
      const { count = 1, key = '', ...fields } = request.body
      const terms = termsWith(NO_TERMS, fields)
      checkValidUntil(terms, NO_TERMS, deps.core.now())
      const repeatable = repeatableOf(deps.core.vault, request, { count, key: key.trim(), terms })
      const keys = keysFor(count, key, repeatable)
      const context = contextOf(deps, request)
      const wanted = { keys, terms, request: repeatable?.request ?? null }
      const position = await makeRedemptions(deps, wanted, context)
      await waitUntilVisible(deps, reply, ['redemptions'], position)
      return success([...keys])
    },
  )
}

function keysFor(count: number, given: string, repeatable: Repeatable | null): readonly string[] {
  if (count <= 0) throw redemptionError('RedemptionCountTooSmall')
  if (count > REDEMPTION_COUNT_MAX) {
    throw redemptionError('RedemptionCountTooLarge', { max: REDEMPTION_COUNT_MAX })
  }
  const key = ownKeyOf(given)
  if (key === '') {
    return Array.from({ length: count }, (_, n) => repeatable?.keyAt(n) ?? newRedemptionKey())
  }
  if (count > 1) throw redemptionError('OneKeyOneCode')
  return [key]
}
