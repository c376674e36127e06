import type { ChatRequest } from '../dialects/wire-format.ts'
import type { ChannelView, RelayChannel } from '../views/channel-view.ts'
import { upstreamModelOf } from '../views/parse-channel-rules.ts'
import type { AdapterOptions } from './read-claude-and-gemini-options.ts'
import { type ModelSuffix, readModelSuffix } from './thinking-suffix-of-model-name.ts'

type NamedModel = Pick<ChatRequest, 'model' | 'suffix'>

/**
 * Returns the request without the suffix of its model name, such as `-thinking` in
 * `claude-sonnet-4-5-thinking`. The call then has the price, the channels, the limits and the log
 * of the model without the suffix. The request is returned unchanged if any channel, even a
 * disabled one, lists the complete name as a separate model, or if no channel lists the name
 * without the suffix. See decision 009 of the relay.
 */
export function resolveModelSuffix<Request extends NamedModel>(
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
 * Returns the model name that is sent to this channel's provider, and the suffix that determines
 * the thinking (null if no suffix does). If the request's model name still has its suffix, because
 * a channel offers the complete name, the name is sent without the suffix. In two cases, the
 * complete name is sent and no suffix is returned:
 *
 * - The channel's name mapping maps a model to the complete name.
 * - The suffix is an effort for an OpenAI model, and the provider is not OpenAI. Other providers
 *   have models such as `openai/o4-mini-high`.
 */
export function modelAndSuffixAtChannel(
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

/** Reports whether the channel maps any model name to this name of the provider. */
const isMapped = ({ modelNames }: RelayChannel['rules'], upstream: string): boolean =>
  [...modelNames.values()].includes(upstream)
