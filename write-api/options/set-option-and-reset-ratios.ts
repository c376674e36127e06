import type { FastifyRequest } from 'fastify'
import type { OptionsCommand, OptionsError } from '#domain/options/commands.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM, type OptionsEvent, type SecretOptionSet } from '#domain/options/events.ts'
import type { OptionSchema } from '#domain/options/option-definition.ts'
import { OPTIONS } from '#domain/options/option-registry.ts'
import { isText } from '#domain/shared/check-characters.ts'
import type { TranslatedText } from '#domain/shared/translated-text.ts'
import type { CommandContext, Done } from '#infra/event-store/stream-actors-port.ts'
import { onlyAdmin, principalOf } from '#infra/http/access-checks.ts'
import { endpoint } from '#infra/http/endpoint-of-contract.ts'
import { HttpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { languageOf } from '#infra/http/request-language.ts'
import { done } from '#infra/http/response-envelope.ts'
import { checkUrl } from '#infra/outbound/outbound-policy.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { optionActions } from '../contract/options.ts'
import { optionBoundsText, optionError } from './option-errors.ts'

/**
 * The text that replaces the value of a secret option in responses. A request with this text
 * changes nothing.
 */
const PLACEHOLDER = '***'
const LENGTH_MAX = 20_000

/**
 * Sets a secret option: stores the text in the vault, records only the vault reference in an event,
 * and then deletes the previous text. An empty text clears the option. Returns the position of the
 * event.
 */
async function setSecretOption(
  { core }: Deps,
  key: string,
  value: string,
  context: CommandContext,
): Promise<number> {
  if (value === PLACEHOLDER) return core.store.headPosition()
  if (value.length > LENGTH_MAX) {
    throw optionError('InvalidOption', { key, error: 'too-long', maximum: LENGTH_MAX })
  }
  if (!isText(value)) throw optionError('InvalidOption', { key, error: 'bad-character' })
  const secretRef = value === '' ? '' : await core.vault.putSecret('option', `option:${key}`, value)
  const command = { type: 'SetSecretOption', key, secretRef } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  if (!outcome.isDone && secretRef !== '') await core.vault.deleteSecret(secretRef)
  const { events, position } = accepted(outcome)
  for (const event of events)
    if (event.type === 'SecretOptionSet') await deleteReplacedText(core, event.data)
  return position
}

/**
 * Deletes the previous text from the vault. A failure is only logged, because the change is already
 * committed.
 */
async function deleteReplacedText(
  { vault, log }: Deps['core'],
  { key, before }: SecretOptionSet['data'],
) {
  if (before === null || before === '') return
  try {
    await vault.deleteSecret(before)
  } catch (error) {
    log.warn(
      { err: error, key },
      'the replaced text of a secret option could not be deleted from the vault',
    )
  }
}

/** PUT /api/option/: sets one option. The caller must have the role that the option requires. */
export const setOption: Action = (api, deps) => {
  api.route({
    ...endpoint(optionActions, 'PUT /api/option/'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { key, value, before } = request.body
      const option = OPTIONS.get(key)
      if (option === undefined) throw optionError('UnknownOption', { key })
      if (principalOf(request).role < option.minimumRole)
        throw optionError('OptionNotYours', { key })
      const context = contextOf(deps, request)
      const position = option.isSecret
        ? await setSecretOption(deps, key, value, context)
        : await setPlainOption(deps, option, { value, before }, context)
      await waitUntilVisible(deps, reply, ['options', 'option-changes', 'price-history'], position)
      return done(isAddressBlocked(deps, option, value) ? ADDRESS_BLOCKED[languageOf(request)] : '')
    },
  })
}

/**
 * Reports whether the outbound policy forbids the address in an option. A forbidden address is
 * stored anyway, because the policy may change, but no requests are sent to the address.
 */
function isAddressBlocked(
  { upstreams }: Deps,
  { isOutboundAddress }: OptionSchema,
  value: string,
): boolean {
  if (isOutboundAddress !== true || value.trim() === '') return false
  const checked = checkUrl(value.trim(), upstreams)
  return !checked.isAllowed && checked.error !== 'malformed'
}

// NOTE: all forbidden addresses have the same message. The message must not reveal which hosts
// exist in the private network.
const ADDRESS_BLOCKED: TranslatedText = {
  zh: '已保存，但不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS），不会向它发出请求',
  en: 'Saved, but the address is not allowed (see PRIVATE_UPSTREAMS). No requests are sent to it',
}

async function setPlainOption(
  { core }: Deps,
  { key }: OptionSchema,
  { value, before }: { readonly value: string; readonly before: string | undefined },
  context: CommandContext,
): Promise<number> {
  const expected = before === undefined ? {} : { before }
  const command = { type: 'SetOption', key, value, ...expected } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  const boundsText = optionBoundsText(key)
  if (!outcome.isDone && boundsText !== null && isOutOfBounds(outcome.error)) {
    throw new HttpError(200, boundsText, { code: 'OptionOutOfBounds', params: { key } })
  }
  return accepted(outcome).position
}

const OUT_OF_BOUNDS = new Set<unknown>(['below-minimum', 'above-maximum', 'not-number'])

const isOutOfBounds = ({ params }: OptionsError): boolean => OUT_OF_BOUNDS.has(params.error)

export const decideOptions = async (
  deps: Deps,
  request: FastifyRequest,
  command: OptionsCommand,
): Promise<Done<OptionsEvent>> =>
  accepted(
    await deps.core.actors.handle(
      optionsDecider,
      OPTIONS_STREAM,
      command,
      contextOf(deps, request),
    ),
  )

/** POST /api/option/rest_model_ratio: resets all model ratios to the built-in ratios. */
export const resetModelRatios: Action = (api, deps) => {
  api.route({
    ...endpoint(optionActions, 'POST /api/option/rest_model_ratio'),
    onRequest: onlyAdmin,
    handler: async (request, reply) => {
      const { position } = await decideOptions(deps, request, { type: 'ResetModelRatios' })
      await waitUntilVisible(deps, reply, ['options', 'price-history'], position)
      return done()
    },
  })
}
