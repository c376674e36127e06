import type { DrawingTask, MusicTask } from '#read-api/contract/tasks.ts'

const NOW = Math.floor(Date.now() / 1_000)

/** A picture that needs no other site. */
const PICTURE = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="420"><defs>
   <linearGradient id="g" x1="0" y1="0" x2="1" y2="1"><stop stop-color="#12343b"/>
   <stop offset="1" stop-color="#e8a33d"/></linearGradient></defs>
   <rect width="640" height="420" fill="url(#g)"/><circle cx="430" cy="150" r="70" fill="#f6e7c8"/>
   </svg>`,
)}`

const facts = (id: number) => ({
  ...{ id, user_id: 1, username: 'root', channel_id: 0, channel_name: '' },
  ...{ status: 'IN_PROGRESS', progress: '10%', submit_time: NOW - id * 90 },
  ...{ start_time: 0, finish_time: 0, fail_reason: '' },
})

export const drawing = (id: number, patch: Partial<DrawingTask> = {}): DrawingTask => ({
  ...facts(id),
  ...{ mj_id: `mj-${id}`, action: 'IMAGINE', code: 1, description: '' },
  ...{ prompt: 'a cat on a wall', prompt_en: '', image_url: '' },
  ...patch,
})

export const song = (id: number, patch: Partial<MusicTask> = {}): MusicTask => ({
  ...facts(id),
  ...{ task_id: `task-${id}`, action: 'MUSIC', platform: 'suno', prompt: 'rain' },
  ...{ model: 'suno_music', songs: [], video: null },
  ...patch,
})

const ID = '019ab0de-2c00-7000-8000-0000000000'
const AT = { channel_id: 4, channel_name: 'painter main' }
const of = (id: number, seconds: number) => ({
  mj_id: `${ID}${String(id).padStart(2, '0')}`,
  submit_time: NOW - 600 + id,
  finish_time: seconds === 0 ? 0 : NOW - 600 + id + seconds,
})
const LONG =
  'an old lighthouse above a cliff in the evening, oil on canvas, warm light, gulls, --ar 3:2 --v 6'

/** Chinese, so that the lists are also checked with its glyphs. */
export const PROMPT = '雨夜的小巷，霓虹灯，电影感'
export const LYRICS = ['窗外的雨', '落在旧街'] as const

export const DRAWINGS: readonly DrawingTask[] = [
  drawing(9, { ...of(9, 0), ...AT, prompt: PROMPT, progress: '42%' }),
  drawing(8, {
    ...{ ...of(8, 48), ...AT, status: 'SUCCESS', progress: '100%', image_url: PICTURE },
    ...{ prompt: LONG, prompt_en: LONG, description: 'Submit success' },
  }),
  drawing(7, {
    ...{ ...of(7, 95), ...AT, action: 'UPSCALE', status: 'SUCCESS', progress: '100%' },
    ...{ image_url: PICTURE, prompt: LONG },
  }),
  drawing(6, {
    ...{ ...of(6, 12), ...AT, status: 'FAILURE', progress: '0%', code: 24 },
    ...{ fail_reason: 'Banned prompt word detected: bloody', username: 'mia', user_id: 7 },
  }),
  drawing(5, { ...of(5, 0), ...AT, action: 'VARIATION', status: 'SUBMITTED', code: 22 }),
  drawing(4, { ...of(4, 0), action: 'SWAP_FACE', status: 'NOT_START', code: 0, progress: '0%' }),
  drawing(3, { ...of(3, 0), ...AT, action: 'INPAINT', status: 'MODAL', code: 21, progress: '0%' }),
  drawing(2, { ...of(2, 0), ...AT, action: 'TELEPORT', status: '', progress: '0%' }),
]

export const SONGS: readonly MusicTask[] = [
  song(5, { task_id: `${ID}05`, ...AT, status: 'QUEUED', progress: '0%' }),
  song(4, {
    ...{ task_id: `${ID}04`, ...AT, status: 'SUCCESS', progress: '100%' },
    finish_time: NOW - 200,
    songs: [
      {
        ...{ title: 'Rain over Chengdu', tags: 'jazz, slow, saxophone', duration: 125 },
        text: '[Verse]\nRain on the window\nRain on the road\n\n[Chorus]\nHome is a river',
        ...{ audio_url: 'https://songs.example/rain.mp3', image_url: PICTURE },
      },
    ],
  }),
  song(3, {
    ...{ task_id: `${ID}03`, ...AT, action: 'LYRICS', status: 'SUCCESS', progress: '100%' },
    finish_time: NOW - 100,
    songs: [
      {
        ...{ title: '夜雨', tags: '', duration: 0, audio_url: '', image_url: '' },
        text: LYRICS.join('\n'),
      },
    ],
  }),
  song(2, {
    ...{ task_id: `${ID}02`, ...AT, status: 'FAILURE', progress: '0%' },
    ...{ finish_time: NOW - 60, fail_reason: 'Lyrics are protected' },
  }),
]
