import type { ChatRequest } from '../dialects/wire-format.ts'
import type { ChannelView, RelayChannel } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parsed-channel-settings.ts'
import type { AdapterOptions } from './model-adapter-options.ts'
import { type ModelSuffix, readModelSuffix } from './model-suffix.ts'

type NamedModel = Pick<ChatRequest, 'model' | 'suffix'>

/**
 * Resolves a name with a suffix, such as `claude-sonnet-4-5-thinking`. A name that any channel has
 * is a model of its own. Otherwise, if any channel has the name without the suffix, the call counts
 * as a call of that model in every respect: its price, its channels, its limits and its log. See
 * decision 009 of the relay.
 */
export function resolveModelName<Request extends NamedModel>(
  request: Request,
  channels: Pick<ChannelView, 'isKnown'>,
  adapters: AdapterOptions,
): Request {
  if (channels.isKnown(request.model)) return request
  const suffix = readModelSuffix(request.model, adapters)
  if (suffix === null || !channels.isKnown(suffix.base)) return request
  const { base: model, suffix: reasoningEffort } = suffix
  return { ...request, model, suffix, reasoningEffort }
}

const OPENAI = 1

/**
 * Returns the provider's name for the model, and the suffix that acts at this channel. A name that
 * the channel lists with a suffix is sent without it. A name in the channel's mapping is sent
 * unchanged. So is one with an effort of OpenAI's, if the provider is not OpenAI: other providers
 * have models such as `openai/o4-mini-high`.
 */
export function suffixAt(
  { terms, rules }: Pick<RelayChannel, 'terms' | 'rules'>,
  { model, suffix }: Pick<ChatRequest, 'model' | 'suffix'>,
  adapters: AdapterOptions,
): { readonly model: string; readonly suffix: ModelSuffix | null } {
  const upstream = upstreamModelOf(terms, rules, model)
  const asSent = { model: upstream, suffix: suffix ?? null }
  const listed = suffix === undefined ? readModelSuffix(upstream, adapters) : null
  if (listed === null || isMapped(rules, upstream)) return asSent
  const isOpenAiEffort = listed.thinking.kind === 'effort' && !/claude|gemini-/i.test(listed.base)
  return isOpenAiEffort && terms.type !== OPENAI ? asSent : { model: listed.base, suffix: listed }
}

/** Reports whether the channel's mapping contains the name as one of the provider's names. */
const isMapped = ({ modelNames }: RelayChannel['rules'], upstream: string): boolean =>
  [...modelNames.values()].includes(upstream)
