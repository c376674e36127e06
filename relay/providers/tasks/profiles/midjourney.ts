import type { Profile } from '../../openai-compatible/profile.ts'

/** What its actions are priced by. */
export const DRAWING_MODELS = [
  'mj_imagine',
  'mj_upscale',
  'mj_variation',
  'mj_high_variation',
  'mj_low_variation',
  'mj_reroll',
  'mj_pan',
  'mj_zoom',
  'mj_custom_zoom',
  'mj_inpaint',
  'mj_modal',
  'mj_blend',
  'mj_describe',
  'mj_shorten',
  'mj_upload',
  'swap_face',
]

export const midjourney: Profile = {
  id: 2,
  name: 'Midjourney',
  tasks: 'drawing',
  baseUrl: null,
  chatPath: '/mj/submit/imagine',
  modelsPath: null,
  keyHeader: 'mj-api-secret',
  keyHint: {
    zh: '绘图代理的访问密钥（mj-api-secret）',
    en: 'The secret of the drawing proxy (mj-api-secret)',
  },
  models: DRAWING_MODELS,
}
