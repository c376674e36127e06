import type { Profile } from './profile.ts'
import { ai360 } from './profiles/ai-360.ts'
import { aiProxy } from './profiles/ai-proxy.ts'
import { aigc2d } from './profiles/aigc2d.ts'
import { ails } from './profiles/ails.ts'
import { ali } from './profiles/ali.ts'
import { api2gpt } from './profiles/api2gpt.ts'
import { azure } from './profiles/azure.ts'
import { baiduV2 } from './profiles/baidu-v2.ts'
import { cloudflare } from './profiles/cloudflare.ts'
import { cohere } from './profiles/cohere.ts'
import { custom } from './profiles/custom.ts'
import { deepSeek } from './profiles/deep-seek.ts'
import { fastGpt } from './profiles/fast-gpt.ts'
import { lingyiWanwu } from './profiles/lingyi-wanwu.ts'
import { miniMax } from './profiles/mini-max.ts'
import { mistral } from './profiles/mistral.ts'
import { mokaAi } from './profiles/moka-ai.ts'
import { moonshot } from './profiles/moonshot.ts'
import { ohMyGpt } from './profiles/oh-my-gpt.ts'
import { ollama } from './profiles/ollama.ts'
import { openAi } from './profiles/open-ai.ts'
import { openAiMax } from './profiles/open-ai-max.ts'
import { openRouter } from './profiles/open-router.ts'
import { perplexity } from './profiles/perplexity.ts'
import { siliconFlow } from './profiles/silicon-flow.ts'
import { submodel } from './profiles/submodel.ts'
import { volcEngine } from './profiles/volc-engine.ts'
import { xAi } from './profiles/x-ai.ts'
import { xinference } from './profiles/xinference.ts'
import { zhipuV4 } from './profiles/zhipu-v4.ts'

/**
 * Every type of this format, in the order that forms offer them. Types whose old default address
 * belongs to somebody else by now have none, so that no key is ever sent there unasked. Left out:
 * 21, a library that answers out of documents by a call of its own, with an id of the library in
 * place of a model; calls of models, which is what is priced here, go to its operator's type 10.
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

/** undefined: a type that no channel can be served by. */
export const profileOf = (type: number): Profile | undefined => BY_ID.get(type)
