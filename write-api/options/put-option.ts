import type { OptionsError } from '#domain/options/commands.ts'
import { optionsDecider } from '#domain/options/decide.ts'
import { OPTIONS_STREAM, type SecretOptionSet } from '#domain/options/events.ts'
import { OPTIONS } from '#domain/options/registry.ts'
import type { OptionSchema } from '#domain/options/schema.ts'
import { isText } from '#domain/shared/characters.ts'
import type { CommandContext } from '#infra/event-store/actors-port.ts'
import { onlyAdmin, principalOf } from '#infra/http/access.ts'
import { Done, done } from '#infra/http/envelope.ts'
import { HttpError } from '#infra/http/http-errors.ts'
import { languageOf, type Words } from '#infra/http/language.ts'
import { checkUrl } from '#infra/outbound/guard.ts'
import { type Action, accepted, contextOf, type Deps, waitUntilVisible } from '../action.ts'
import { PutOption } from '../contract/options.ts'
import { optionError } from './option-errors.ts'

/** What a secret option reads as; sent back, it changes nothing. */
const SET = '***'
const LENGTH_MAX = 20_000

/**
 * Keeps the text in the vault and its reference in the event; an empty text clears the option. The
 * text that was there before goes once the event stands. Answers the position of the event.
 */
async function secretOption(
  { core }: Deps,
  key: string,
  value: string,
  context: CommandContext,
): Promise<number> {
  if (value === SET) return core.store.headPosition()
  if (value.length > LENGTH_MAX) {
    throw optionError('InvalidOption', { key, fault: 'too-long', maximum: LENGTH_MAX })
  }
  if (!isText(value)) throw optionError('InvalidOption', { key, fault: 'bad-character' })
  const secretRef = value === '' ? '' : await core.vault.putSecret('option', `option:${key}`, value)
  const command = { type: 'SetSecretOption', key, secretRef } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  if (!outcome.isDone && secretRef !== '') await core.vault.deleteSecret(secretRef)
  const { events, position } = accepted(outcome)
  for (const event of events) if (event.type === 'SecretOptionSet') await forget(core, event.data)
  return position
}

/** The event stands either way: a text that can't be deleted now is no fault of the caller. */
async function forget({ vault, log }: Deps['core'], { key, before }: SecretOptionSet['data']) {
  if (before === null || before === '') return
  try {
    await vault.deleteSecret(before)
  } catch (error) {
    log.warn({ err: error, key }, 'the replaced text of a secret option is still in the vault')
  }
}

/** PUT /api/option/: sets one option, within its schema, by whoever may set that one. */
export const putOption: Action = (api, deps) => {
  api.put(
    '/api/option/',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Set one option', body: PutOption, response: { 200: Done } },
    },
    async (request, reply) => {
      const { key, value, before } = request.body
      const option = OPTIONS.get(key)
      if (option === undefined) throw optionError('UnknownOption', { key })
      if (principalOf(request).role < option.minimumRole)
        throw optionError('OptionNotYours', { key })
      const context = contextOf(deps, request)
      const position = option.isSecret
        ? await secretOption(deps, key, value, context)
        : await plainOption(deps, option, { value, before }, context)
      await waitUntilVisible(deps, reply, ['options', 'option-changes', 'price-history'], position)
      return done(isUnasked(deps, option, value) ? NOT_ASKED[languageOf(request)] : '')
    },
  )
}

/** It is kept, as the policy may change; until then no question will leave for it. */
function isUnasked({ upstreams }: Deps, { isAsked }: OptionSchema, value: string): boolean {
  if (isAsked !== true || value.trim() === '') return false
  const checked = checkUrl(value.trim(), upstreams)
  return !checked.isAllowed && checked.fault !== 'malformed'
}

// NOTE: the same words whatever is at the address, or they would map a private network.
const NOT_ASKED: Words = {
  zh: '已保存，但不允许使用该地址（内网地址须列入 PRIVATE_UPSTREAMS），不会向它发出请求',
  en: 'Saved, but it is no allowed address (see PRIVATE_UPSTREAMS): it will not be asked',
}

async function plainOption(
  { core }: Deps,
  { key, boundsWords }: OptionSchema,
  { value, before }: { readonly value: string; readonly before: string | undefined },
  context: CommandContext,
): Promise<number> {
  const seen = before === undefined ? {} : { before }
  const command = { type: 'SetOption', key, value, ...seen } as const
  const outcome = await core.actors.handle(optionsDecider, OPTIONS_STREAM, command, context)
  if (!outcome.isDone && boundsWords !== undefined && isOutOfBounds(outcome.error)) {
    throw new HttpError(200, boundsWords, { code: 'OptionOutOfBounds', params: { key } })
  }
  return accepted(outcome).position
}

const OUT_OF_BOUNDS = new Set<unknown>(['below-minimum', 'above-maximum', 'not-number'])

const isOutOfBounds = ({ params }: OptionsError): boolean => OUT_OF_BOUNDS.has(params.fault)

/** POST /api/option/rest_model_ratio: model ratios as they are built in, in one append. */
export const resetModelRatios: Action = (api, deps) => {
  api.post(
    '/api/option/rest_model_ratio',
    {
      onRequest: onlyAdmin,
      schema: { summary: 'Reset the model ratios to the built-in ones', response: { 200: Done } },
    },
    async (request, reply) => {
      const { position } = accepted(
        await deps.core.actors.handle(
          optionsDecider,
          OPTIONS_STREAM,
          { type: 'ResetModelRatios' },
          contextOf(deps, request),
        ),
      )
      await waitUntilVisible(deps, reply, ['options', 'price-history'], position)
      return done()
    },
  )
}
