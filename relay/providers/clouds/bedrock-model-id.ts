/**
 * The prefixes of inference profiles. A profile routes requests to the regions of one geography.
 * Newer models can be called only through a profile.
 */
type Scope = 'us' | 'us-gov' | 'eu' | 'jp' | 'au' | 'apac' | 'global'

type BedrockModel = { readonly id: string; readonly scopes: readonly Scope[] }

const EVERYWHERE: readonly Scope[] = ['us', 'eu', 'jp', 'au', 'global']
const WITHOUT_JAPAN: readonly Scope[] = ['us', 'eu', 'au', 'global']

/**
 * The models whose id or profiles differ from the defaults in `bedrockModelId`. The source is AWS'
 * model cards as of September 2026. Anthropic's names without a date are aliases.
 */
const MODELS: ReadonlyMap<string, BedrockModel> = new Map(
  [
    ['claude-3-haiku-20240307', '-v1:0', ['us', 'eu', 'apac']],
    ['claude-3-5-haiku-20241022', '-v1:0', ['us']],
    ['claude-3-7-sonnet-20250219', '-v1:0', ['us', 'us-gov', 'eu', 'apac']],
    ['claude-sonnet-4-20250514', '-v1:0', ['us', 'eu', 'apac', 'global']],
    ['claude-opus-4-20250514', '-v1:0', ['us']],
    ['claude-opus-4-1-20250805', '-v1:0', ['us']],
    ['claude-opus-4-5-20251101', '-v1:0', ['us', 'eu', 'global']],
    ['claude-sonnet-4-5-20250929', '-v1:0', [...EVERYWHERE, 'us-gov']],
    ['claude-haiku-4-5-20251001', '-v1:0', EVERYWHERE],
    ['claude-opus-4-6', '-v1', WITHOUT_JAPAN],
    ['claude-sonnet-4-6', '', EVERYWHERE],
    ['claude-opus-4-7', '', EVERYWHERE],
    ['claude-opus-4-8', '', EVERYWHERE],
  ].flatMap(([name, end, scopes]) => {
    const model = { id: `anthropic.${name}${end}`, scopes: scopes as readonly Scope[] }
    const alias = String(name).replace(/-\d{8}$/, '')
    return [String(name), alias].map((each): [string, BedrockModel] => [each, model])
  }),
)

/**
 * Returns Bedrock's model id for calls in a region, such as
 * `eu.anthropic.claude-haiku-4-5-20251001-v1:0`. Any name that is not one of Anthropic's is
 * returned unchanged, because it is an id, an inference profile or an ARN from the operator's
 * mapping.
 */
export function bedrockModelId(name: string, region: string): string {
  if (!name.startsWith('claude-')) return name
  const { id, scopes } = MODELS.get(name) ?? { id: `anthropic.${name}`, scopes: WITHOUT_JAPAN }
  const scope = scopesOf(region).find((each) => scopes.includes(each))
  return scope === undefined ? id : `${scope}.${id}`
}

/** Returns the profile prefixes that can be used from a region, the nearest first. */
function scopesOf(region: string): readonly Scope[] {
  if (region.startsWith('us-gov-')) return ['us-gov']
  if (/^(?:us|ca)-/.test(region)) return ['us', 'global']
  if (region.startsWith('eu-')) return ['eu', 'global']
  if (/^ap-northeast-[13]$/.test(region)) return ['jp', 'apac', 'global']
  if (/^ap-southeast-[246]$/.test(region)) return ['au', 'apac', 'global']
  return region.startsWith('ap-') ? ['apac', 'global'] : ['global']
}
