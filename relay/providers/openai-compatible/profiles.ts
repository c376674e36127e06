import type { Profile } from './profile.ts'
import {
  ai360,
  ali,
  baiduV2,
  deepSeek,
  lingyiWanwu,
  miniMax,
  mokaAi,
  moonshot,
  siliconFlow,
  volcEngine,
  zhipuV4,
} from './profiles/chinese.ts'
import {
  azure,
  cloudflare,
  cohere,
  mistral,
  ollama,
  openAi,
  openRouter,
  perplexity,
  xAi,
  xinference,
} from './profiles/international.ts'
import {
  aigc2d,
  ails,
  aiProxy,
  api2gpt,
  custom,
  fastGpt,
  ohMyGpt,
  openAiMax,
  submodel,
} from './profiles/resellers.ts'

/**
 * Lists every channel type of this format, in the order of the form. Types whose old default
 * address now belongs to someone else have no default, so that no key is sent there by accident.
 * Type 21 is left out: it answers from documents and takes a library id instead of a model, while
 * only calls of models are priced here. Its operator's models are available as type 10.
 */
export const PROFILES: readonly Profile[] = [
  openAi,
  custom,
  azure,
  deepSeek,
  openRouter,
  moonshot,
  zhipuV4,
  ali,
  volcEngine,
  siliconFlow,
  baiduV2,
  miniMax,
  xAi,
  mistral,
  cohere,
  perplexity,
  cloudflare,
  ollama,
  xinference,
  lingyiWanwu,
  ai360,
  mokaAi,
  submodel,
  fastGpt,
  aiProxy,
  api2gpt,
  aigc2d,
  openAiMax,
  ohMyGpt,
  ails,
]

const BY_ID: ReadonlyMap<number, Profile> = new Map(
  PROFILES.map((profile) => [profile.id, profile]),
)

/** Returns undefined for a type that the relay does not support. */
export const profileOf = (type: number): Profile | undefined => BY_ID.get(type)
