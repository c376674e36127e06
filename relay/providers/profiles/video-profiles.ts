import type { ProfileRow } from './provider-profile.ts'

const TWO_KEYS = {
  zh: 'Access Key|Secret Key（对接其它网关时填其令牌）',
  en: 'Access key|secret key (or the token of another gateway)',
}

/** The channel types that accept only video tasks. */
export const VIDEO_ROWS: readonly ProfileRow[] = [
  {
    id: 50,
    name: 'Kling',
    baseUrl: 'https://api.klingai.com',
    tasks: { kind: 'video', path: '/v1/videos/text2video' },
    videos: { vendor: 'kling' },
    modelsPath: null,
    keyHint: TWO_KEYS,
    models: `
      kling-v1 kling-v1-5 kling-v1-6 kling-v2-master kling-v2-1 kling-v2-1-master
      kling-v2-5-turbo kling-v2-6
    `,
  },
  {
    id: 51,
    name: 'Jimeng',
    baseUrl: 'https://visual.volcengineapi.com',
    tasks: { kind: 'video', path: '/?Action=CVSync2AsyncSubmitTask' },
    videos: { vendor: 'jimeng' },
    modelsPath: null,
    keyHint: TWO_KEYS,
    models: `
      jimeng_t2v_v30 jimeng_t2v_v30_1080p jimeng_i2v_first_v30 jimeng_i2v_first_v30_1080
      jimeng_ti2v_v30_pro
    `,
  },
  {
    id: 52,
    name: 'Vidu',
    baseUrl: 'https://api.vidu.cn',
    tasks: { kind: 'video', path: '/ent/v2/text2video' },
    videos: { vendor: 'vidu' },
    modelsPath: null,
    keyHint: { zh: 'vda_ 开头的 API 密钥', en: 'An API key, vda_…' },
    models: 'viduq2 viduq1 vidu2.0 vidu1.5',
  },
  {
    id: 54,
    name: 'Doubao video',
    baseUrl: 'https://ark.cn-beijing.volces.com',
    tasks: { kind: 'video', path: '/api/v3/contents/generations/tasks' },
    videos: { vendor: 'doubao' },
    modelsPath: null,
    keyHint: { zh: '方舟平台的 API Key', en: 'An API key of Ark' },
    models: `
      doubao-seedance-1-0-pro-250528 doubao-seedance-1-0-lite-t2v-250428
      doubao-seedance-1-0-lite-i2v-250428
    `,
  },
  {
    id: 55,
    name: 'Sora',
    baseUrl: 'https://api.openai.com',
    tasks: { kind: 'video', path: '/v1/videos' },
    videos: { vendor: 'sora' },
    modelsPath: null,
    keyHint: { zh: 'sk- 开头的 API 密钥', en: 'An API key, sk-…' },
    models: 'sora-2 sora-2-pro',
  },
]
