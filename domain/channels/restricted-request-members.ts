import { foldedName } from '../shared/fold-json-member-names.ts'

/**
 * Restricted members of a request can make the provider deliver something other than what is
 * billed, such as another model, price or account. The gateway removes these members unless the
 * channel allows them. The provider type determines which members a channel may allow.
 */

/**
 * The restricted members that a chat channel of any provider type may allow. They change the price
 * or the effort of a call, and some operators sell these features.
 */
const COMMON: readonly string[] = [
  ...['service_tier', 'speed', 'priority', 'inference_geo', 'background', 'extra_body'],
  ...['best_of', 'use_beam_search', 'num_beams', 'beam_width'],
  ...['web_search_options', 'search_parameters', 'enable_search', 'search_options', 'web_search'],
  ...['plugins', 'enable_enhancement', 'enable_deep_search', 'force_search_enhancement'],
  ...['enable_code_interpreter', 'mcp_servers', 'container', 'search_settings', 'search_type'],
]

/**
 * If a channel's list of allowed members contains this entry, callers may use those tools of the
 * provider that have a price, such as a web search. Functions that callers define are always sent.
 */
export const PROVIDER_TOOLS = 'tools'

/**
 * If a channel's list of allowed members contains this entry, callers may write to the one-hour
 * cache, which costs more than the five-minute cache. Without this entry, the relay changes such a
 * request to use the five-minute cache.
 */
export const HOUR_CACHE = 'cache_control.ttl'

/** OpenRouter's request members that select models and the providers that serve them. */
const ROUTES: readonly string[] = ['models', 'route', 'provider', 'preset']
/** Azure's request members for attached data sources and additional services. */
const ATTACHED: readonly string[] = ['data_sources', 'enhancements']
/**
 * Request members of self-hosted gateways. An operator may use such a gateway as a custom provider.
 */
const SELF_HOSTED: readonly string[] = [
  ...['fallbacks', 'fallback_models', 'providerOptions', 'tags', 'lora', 'lora_path', 'adapter_id'],
]

/** The members of a chat request that the relay itself reads, except the output limits. */
export const READ_MEMBERS: readonly string[] = [
  ...['model', 'messages', 'stream', 'stream_options', 'n', 'reasoning_effort'],
]
export const OUTPUT_LIMITS: readonly string[] = ['max_tokens', 'max_completion_tokens']

/**
 * Members that select the model, the speed or the resolution of a task. These members are
 * restricted, because the price of a task depends only on the task's action.
 */
export const TASK_MEMBERS: Readonly<Record<'drawing' | 'music', readonly string[]>> = {
  drawing: ['botType', 'model', 'mode', 'speed', 'videoType'],
  music: ['mv', 'model', 'model_name', 'model_version'],
}

const BEDROCK = 33
/**
 * Restricted members that no model of a provider type accepts. A channel of this type cannot allow
 * them, because the provider would refuse requests that contain them.
 */
const UNKNOWN_TO_TYPE: ReadonlyMap<number, readonly string[]> = new Map([[BEDROCK, ['speed']]])

const AZURE = 3
const CUSTOM = 8
const OPEN_ROUTER = 20
const BY_TYPE: ReadonlyMap<number, readonly string[]> = new Map([
  [AZURE, ATTACHED],
  [CUSTOM, [...ROUTES, ...ATTACHED, ...SELF_HOSTED]],
  [OPEN_ROUTER, ROUTES],
])

const MIDJOURNEY = 2
const MIDJOURNEY_PLUS = 5
const SUNO = 36
const BY_TASK_TYPE: ReadonlyMap<number, readonly string[]> = new Map([
  [MIDJOURNEY, TASK_MEMBERS.drawing],
  [MIDJOURNEY_PLUS, TASK_MEMBERS.drawing],
  [SUNO, TASK_MEMBERS.music],
])

/**
 * Members that only an admin can set, and that callers can never send. They select the account,
 * location, price or length of an answer, or tell a gateway to drop other members. The last two
 * members select beta features, because some providers of Anthropic's models read beta features
 * from the body instead of the header.
 */
const NEVER_ALLOWED: readonly string[] = [
  ...['api_base', 'base_url', 'api_key', 'api_type', 'api_version', 'organization', 'client'],
  ...['headers', 'extra_headers', 'extra_query', 'default_headers', 'proxy_server_request'],
  ...['custom_llm_provider', 'user_config', 'model_list', 'model_info', 'model_id', 'base_model'],
  ...['engine', 'deployment_id', 'specific_deployment', 'hf_model_name', 'region_name'],
  ...['fallback_model', 'context_window_fallbacks', 'content_policy_fallbacks', 'routing'],
  ...['allowed_models', 'llm_providers', 'provider_options', 'compound_custom', 'requesty'],
  ...['num_retries', 'max_retries', 'rpm', 'tpm', 'cache', 'caching', 'no-log', 'debug'],
  ...['guardrails', 'disable_global_guardrails', 'prompt_id', 'prompt_variables'],
  ...['bootstrap_host', 'bootstrap_port', 'bootstrap_room', 'kv_transfer_params', 'lora_request'],
  ...['deferred', 'datasources', 'inferenceConfig', 'generation_config'],
  ...['max_output_tokens', 'max_tokens_to_sample', 'max_new_tokens', 'max_generated_tokens'],
  ...['n_predict', 'num_predict', 'max_gen_len', 'max_length', 'maxTokens', 'maxOutputTokens'],
  ...['maxCompletionTokens', 'generationConfig', 'candidate_count', 'candidateCount'],
  ...['num_generations', 'num_completions', 'options', 'parameters', 'optional_params'],
  ...['n_cmpl', 'tokens_to_generate', 'auto_max_new_tokens', 'adapters', 'connectors'],
  ...['enable_multimedia', 'enable_speed_search', 'enable_deep_read', 'chat_template'],
  ...['model_kwargs', 'additionalModelRequestFields', 'performanceConfig', 'guardrailConfig'],
  ...['drop_params', 'additional_drop_params', 'allowed_openai_params', 'custom_prompt_dict'],
  ...['safety_model', 'draft_model', 'disable_fallbacks', 'max_fallbacks', 'fallback_depth'],
  ...['use_litellm_proxy', 'secret_fields', 'tenant_id', 'client_id', 'client_secret'],
  ...['anthropic_beta', 'betas'],
]
/**
 * Matches members that callers can never send: credentials of cloud providers, and parameters of
 * LiteLLM.
 */
const NEVER_ALLOWED_PREFIX =
  /^(?:aws|azure|vertex|watsonx|litellm|mock|input_cost_per|output_cost_per)_/

/**
 * The names of all restricted members, in each spelling that a parser may accept. For example,
 * parsers of protocol buffers also accept `serviceTier` for `service_tier`, and some parsers accept
 * `service-tier`.
 */
const RESTRICTED: ReadonlySet<string> = new Set(
  [...COMMON, ...NEVER_ALLOWED, ...[...BY_TYPE.values()].flat()]
    .map(foldedName)
    .flatMap((name) => [name, name.replaceAll('_', ''), name.replaceAll('_', '-')]),
)

/**
 * Reports whether a member is restricted. Callers may send some restricted members if the channel
 * allows these members. Callers can never send the other restricted members. `folded` is the
 * member's name as returned by `foldedName`.
 */
export const isRestrictedMember = (folded: string): boolean =>
  RESTRICTED.has(folded) || NEVER_ALLOWED_PREFIX.test(folded)

export function allowableMembers(type: number): readonly string[] {
  const common = [...COMMON, PROVIDER_TOOLS, HOUR_CACHE]
  const unknown = UNKNOWN_TO_TYPE.get(type) ?? []
  return (
    BY_TASK_TYPE.get(type) ?? [
      ...common.filter((name) => !unknown.includes(name)),
      ...(BY_TYPE.get(type) ?? []),
    ]
  )
}
