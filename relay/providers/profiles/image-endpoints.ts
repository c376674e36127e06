import {
  DASH_SCOPE,
  DASH_SCOPE_EDIT_TASKS,
  DASH_SCOPE_TASKS,
  GEMINI_CONTENT,
  IMAGEN,
  MINIMAX_IMAGES,
  REPLICATE_IMAGES,
  SILICON_FLOW,
  XAI_IMAGES,
  Z_IMAGE,
} from './image-adapters.ts'
import type { CallEndpoint } from './provider-profile.ts'

const imagesAt = (path: string, models?: RegExp): CallEndpoint =>
  models === undefined ? { format: 'images', path } : { format: 'images', path, models }

const GENERATIONS = '/v1/images/generations'
const editsAt = (path: string, models?: RegExp): CallEndpoint => ({
  ...imagesAt(path, models),
  format: 'image-edits',
})
const variationsAt = (path: string, models?: RegExp): CallEndpoint => ({
  ...imagesAt(path, models),
  format: 'image-variations',
})
const IMAGEN_MODELS = /^imagen-/
const GEMINI_IMAGE_MODELS = /^gemini-.*image/

/**
 * Some providers ignore the members `n` and `quality`: Zhipu and Ark generate one image per
 * request, and Ark, Xinference and Zhipu's older models have only one quality.
 */
const NUMBER: ReadonlySet<string> = new Set(['n'])
const QUALITY: ReadonlySet<string> = new Set(['quality'])
const NUMBER_AND_QUALITY: ReadonlySet<string> = new Set([...NUMBER, ...QUALITY])

/** Matches a short JSON text without escapes. */
const SHORT_TEXT = /^"[^"\\]{1,128}"$/
const FLAG = /^(?:true|false)$/
/**
 * Members of the vendors' own APIs that OpenAI's API does not have (see `CallEndpoint.accepts`). A
 * size among them is priced by `sentImageOf`, and is therefore accepted only with an adapter.
 */
const XAI_MEMBERS: CallEndpoint['accepts'] = new Map([
  ['aspect_ratio', SHORT_TEXT],
  ['resolution', SHORT_TEXT],
])
const SILICON_FLOW_MEMBERS: CallEndpoint['accepts'] = new Map([
  ['image_size', SHORT_TEXT],
  ['num_inference_steps', /^[1-9]\d{0,2}$/],
])
const ZHIPU_MEMBERS: CallEndpoint['accepts'] = new Map([
  ['watermark_enabled', FLAG],
  ['user_id', SHORT_TEXT],
])
/** Any other value of this member would multiply the images. */
const SEEDREAM_MEMBERS: CallEndpoint['accepts'] = new Map([
  ['sequential_image_generation', /^"disabled"$/],
])
const RATIO_MEMBER: CallEndpoint['accepts'] = new Map([['aspect_ratio', SHORT_TEXT]])

const ZHIPU_IMAGES = '/api/paas/v4/images/generations'

/** Matches the models of Wan that generate images as tasks. */
const WAN_IMAGE_MODELS = /^(?:wanx-v1|wanx?2\.[0-5]-t2i)/
/** Matches the models of Wan that edit the caller's images as tasks. */
const WAN_IMAGE_EDITORS = /^wan2\.5-i2i/
const WAN_EDITS_PATH = '/api/v1/services/aigc/image2image/image-synthesis'
/**
 * Matches the models of DashScope that generate images within one request. Wan does so since 2.6
 * (alibabacloud.com/help/en/model-studio/wan-image-generation-api-reference).
 */
const DASH_SCOPE_MODELS = /^(?:qwen-image|wan(?:2\.(?:[6-9]|\d\d)|[3-9])[\w.]*-(?:t2i|image))/
/** Matches those of `DASH_SCOPE_MODELS` that edit the caller's images. */
const DASH_SCOPE_EDITORS =
  /^(?:qwen-image-(?:edit|[2-9])|wan(?:2\.(?:[6-9]|\d\d)|[3-9])[\w.]*-image)/
const DASH_SCOPE_PATH = '/api/v1/services/aigc/multimodal-generation/generation'
/** Matches the hosts of DashScope, including those of single workspaces. */
const DASH_SCOPE_BASES = /^(?:dashscope(?:-[a-z]+)?|[\w-]+\.[\w-]+\.maas)\.aliyuncs\.com\//

/**
 * Returns two copies of an endpoint of DashScope. The first is for the hosts of DashScope: its path
 * begins directly after the host, because the base URL may be that of the compatible API. The
 * second is for all other hosts: its path is placed below the base URL.
 */
const ofDashScope = (endpoint: CallEndpoint): readonly CallEndpoint[] => [
  { ...endpoint, bases: DASH_SCOPE_BASES },
  endpoint,
]
/** Matches Replicate's image models. All other models are treated as language models. */
const REPLICATE_IMAGE_MODELS =
  /\/(?:flux|sdxl|stable-diffusion|imagen|ideogram|recraft|seedream|qwen-image|playground)/

const ofGoogle = (models: string): readonly CallEndpoint[] => [
  { format: 'gemini-images', path: `${models}:predict`, models: IMAGEN_MODELS },
  { ...imagesAt(`${models}:predict`, IMAGEN_MODELS), adapter: IMAGEN },
  { ...imagesAt(`${models}:generateContent`, GEMINI_IMAGE_MODELS), adapter: GEMINI_CONTENT },
]

/**
 * The image endpoints, by channel type. An endpoint with an adapter has another format than
 * OpenAI's. An endpoint without `models` serves any model.
 */
export const IMAGE_ENDPOINTS: ReadonlyMap<number, readonly CallEndpoint[]> = new Map([
  [
    1,
    [
      imagesAt(GENERATIONS, /^(?:dall-e-|gpt-image-|chatgpt-image-)/),
      editsAt('/v1/images/edits', /^(?:dall-e-2$|gpt-image-|chatgpt-image-)/),
      variationsAt('/v1/images/variations', /^dall-e-2$/),
    ],
  ],
  // The models are not listed, because an Azure deployment may have any name.
  [3, [imagesAt('/openai/v1/images/generations'), editsAt('/openai/v1/images/edits')]],
  [8, [imagesAt(GENERATIONS), editsAt('/v1/images/edits'), variationsAt('/v1/images/variations')]],
  [
    17,
    [
      ...ofDashScope({ ...imagesAt(DASH_SCOPE_PATH, DASH_SCOPE_MODELS), adapter: DASH_SCOPE }),
      ...ofDashScope({ ...editsAt(DASH_SCOPE_PATH, DASH_SCOPE_EDITORS), adapter: DASH_SCOPE }),
      ...ofDashScope({ ...imagesAt(DASH_SCOPE_PATH, /^z-image/), adapter: Z_IMAGE }),
      ...ofDashScope({
        ...imagesAt('/api/v1/services/aigc/text2image/image-synthesis', WAN_IMAGE_MODELS),
        adapter: DASH_SCOPE_TASKS,
      }),
      ...[imagesAt, editsAt].flatMap((placedAt) =>
        ofDashScope({
          ...placedAt(WAN_EDITS_PATH, WAN_IMAGE_EDITORS),
          adapter: DASH_SCOPE_EDIT_TASKS,
        }),
      ),
    ],
  ],
  [24, ofGoogle('/v1beta/models/{model}')],
  [
    26,
    [
      {
        ...imagesAt(ZHIPU_IMAGES, /^(?:cogview-4|glm-image)/),
        ...{ ignores: NUMBER, accepts: ZHIPU_MEMBERS },
      },
      {
        ...imagesAt(ZHIPU_IMAGES, /^cogview/),
        ...{ ignores: NUMBER_AND_QUALITY, accepts: ZHIPU_MEMBERS },
      },
    ],
  ],
  [
    35,
    [
      {
        ...imagesAt('/v1/image_generation', /^image-/),
        bases: /^api\.(?:minimax\.io|minimaxi\.com|minimax\.chat)\//,
        ...{ adapter: MINIMAX_IMAGES, accepts: RATIO_MEMBER },
      },
    ],
  ],
  [40, [{ ...imagesAt(GENERATIONS), adapter: SILICON_FLOW, accepts: SILICON_FLOW_MEMBERS }]],
  [41, ofGoogle('/v1/projects/{project}/locations/{region}/publishers/google/models/{model}')],
  [
    45,
    [
      {
        ...imagesAt('/api/v3/images/generations', /seedream|seededit/),
        ignores: NUMBER_AND_QUALITY,
        accepts: SEEDREAM_MEMBERS,
        isPlainOnly: true,
      },
    ],
  ],
  [47, [{ ...imagesAt(GENERATIONS), ignores: QUALITY }]],
  [48, [{ ...imagesAt(GENERATIONS, /image|imagine/), adapter: XAI_IMAGES, accepts: XAI_MEMBERS }]],
  [
    56,
    [
      {
        ...imagesAt('/v1/models/{model}/predictions', REPLICATE_IMAGE_MODELS),
        ...{ adapter: REPLICATE_IMAGES, accepts: RATIO_MEMBER },
      },
    ],
  ],
])

/** Matches the names of models that generate images. */
const IMAGE_MODEL =
  /dall-e|gpt-image|chatgpt-image|imagen-|cogview|glm-image|seedream|qwen-image|flux|kolors|grok-.*imag|gemini-.*image|stable-diffusion|^image-0|wanx-v1|wanx?\d[\w.]*-(?:t2i|i2i|image)|z-image/i

/**
 * Reports whether a model with this name generates images. The endpoints can't show this, because
 * the image endpoints of some channel types serve any model.
 */
export const isImageModel = (model: string): boolean => IMAGE_MODEL.test(model)
