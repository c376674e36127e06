/** What a vendor gets and answers, and what its videos cost. */
export type VideoScript = {
  readonly model: string
  readonly body?: Record<string, unknown>
  readonly submit: string
  readonly accepted: unknown
  readonly query: string
  readonly done: (url: string) => unknown
  readonly failed: unknown
  /** The HTTP status of `failed`; 200 if it is omitted. */
  readonly failedStatus?: number
  readonly refused: { readonly status?: number; readonly body: unknown }
  /** The quota held at submission, and the charge for the result. */
  readonly hold: number
  readonly charge: number
  /** The length of the video, if it is not the requested one. */
  readonly madeSeconds?: number
  readonly sent: object
}

const VERTEX_MODEL =
  'projects/planted-project-4711/locations/us-central1/publishers/google/models/veo-3.1-generate-001'

export const VIDEO_SCRIPTS: Readonly<Record<string, VideoScript>> = {
  kling: {
    model: 'kling-v1-6',
    body: { seconds: '10', mode: 'pro', size: '720x1280' },
    submit: 'POST /v1/videos/text2video',
    accepted: { code: 0, message: 'SUCCEED', data: { task_id: 'k1', task_status: 'submitted' } },
    query: 'GET /v1/videos/text2video/k1',
    done: (url) => ({
      code: 0,
      data: { task_status: 'succeed', task_result: { videos: [{ url, duration: '5.041' }] } },
    }),
    failed: { code: 0, data: { task_status: 'failed', task_status_msg: 'the prompt was unfit' } },
    refused: { status: 400, body: { code: 1201, message: 'the value is bad' } },
    // $0.056 per second, 1.75 for pro: 10 seconds held, and 5 made.
    hold: 490_000,
    charge: 245_000,
    madeSeconds: 5,
    sent: { model_name: 'kling-v1-6', mode: 'pro', duration: '10', aspect_ratio: '9:16' },
  },
  jimeng: {
    model: 'jimeng_t2v_v30',
    body: { seconds: 10 },
    submit: 'POST /',
    accepted: { code: 10_000, data: { task_id: 'j1' } },
    query: 'POST /',
    done: (video_url) => ({ code: 10_000, data: { status: 'done', video_url, task_id: 'j1' } }),
    failed: { code: 50_411, message: 'the picture was unfit', data: { task_id: 'j1' } },
    failedStatus: 400,
    refused: { body: { code: 50_400, message: 'the account is unfit' } },
    hold: 200_000,
    charge: 200_000,
    sent: { req_key: 'jimeng_t2v_v30', frames: 241 },
  },
  vidu: {
    model: 'viduq2',
    submit: 'POST /ent/v2/text2video',
    accepted: { task_id: 'v1', state: 'created' },
    query: 'GET /ent/v2/tasks/v1/creations',
    done: (url) => ({ state: 'success', creations: [{ id: 'c', url }] }),
    failed: { state: 'failed', err_code: 'AuditSubmitIllegal' },
    refused: { status: 400, body: { message: 'the value is bad' } },
    hold: 125_000,
    charge: 125_000,
    sent: { model: 'viduq2', duration: 5, resolution: '720p' },
  },
  doubao: {
    model: 'doubao-seedance-1-0-pro-250528',
    body: { prompt: 'the sea --dur 10 --rs 720p' },
    submit: 'POST /api/v3/contents/generations/tasks',
    accepted: { id: 'd1' },
    query: 'GET /api/v3/contents/generations/tasks/d1',
    done: (video_url) => ({
      ...{ status: 'succeeded', content: { video_url }, usage: { total_tokens: 103_818 } },
    }),
    failed: { status: 'failed', error: { code: 'x', message: 'the output was unfit' } },
    refused: { status: 400, body: { error: { message: 'the value is bad' } } },
    // 257 813 tokens at most, at $2.5 per million, and 103 818 made.
    hold: 322_266,
    charge: 129_773,
    sent: {
      ...{ content: [{ type: 'text', text: 'the sea' }], duration: 10, resolution: '720p' },
      execution_expires_after: 3_600,
    },
  },
  sora: {
    model: 'sora-2-pro',
    body: { seconds: '8', size: '1792x1024' },
    submit: 'POST /v1/videos',
    accepted: { id: 'video_1', object: 'video', status: 'queued' },
    query: 'GET /v1/videos/video_1',
    done: () => ({ id: 'video_1', status: 'completed', progress: 100, seconds: '8' }),
    failed: { id: 'video_1', status: 'failed', error: { message: 'the prompt was unfit' } },
    refused: { status: 400, body: { error: { message: 'the value is bad' } } },
    // $0.50 per second at 1792x1024.
    hold: 2_000_000,
    charge: 2_000_000,
    sent: { model: 'sora-2-pro', seconds: '8', size: '1792x1024' },
  },
  veo: {
    model: 'veo-3.1-generate-preview',
    body: { resolution: '4k' },
    submit: 'POST /v1beta/models/veo-3.1-generate-preview:predictLongRunning',
    accepted: { name: 'models/veo-3.1-generate-preview/operations/o1' },
    query: 'GET /v1beta/models/veo-3.1-generate-preview/operations/o1',
    done: (uri) => ({
      ...{ name: 'x', done: true },
      response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
    }),
    failed: { name: 'x', done: true, error: { code: 3, message: 'the prompt was unfit' } },
    refused: { status: 400, body: { error: { code: 400, message: 'the value is bad' } } },
    hold: 2_400_000,
    charge: 2_400_000,
    sent: { parameters: { sampleCount: 1, durationSeconds: 8, resolution: '4k' } },
  },
  'veo-on-vertex': {
    model: 'veo-3.1-generate-001',
    body: { seconds: 4, size: '1920x1080' },
    submit: `POST /v1/${VERTEX_MODEL}:predictLongRunning`,
    accepted: { name: `${VERTEX_MODEL}/operations/o1` },
    query: `POST /v1/${VERTEX_MODEL}:fetchPredictOperation`,
    done: () => ({
      ...{ name: 'x', done: true },
      response: { videos: [{ bytesBase64Encoded: 'AAAA', mimeType: 'video/mp4' }] },
    }),
    failed: {
      ...{ name: 'x', done: true },
      response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['the prompt was unfit'] },
    },
    refused: { status: 400, body: { error: { code: 400, message: 'the value is bad' } } },
    // $0.40 per second.
    hold: 800_000,
    charge: 800_000,
    sent: {
      instances: [{ prompt: 'the sea' }],
      parameters: {
        ...{ sampleCount: 1, durationSeconds: 4, resolution: '1080p', aspectRatio: '16:9' },
        generateAudio: true,
      },
    },
  },
  hailuo: {
    model: 'MiniMax-Hailuo-02',
    body: { duration: 10 },
    submit: 'POST /v1/video_generation',
    accepted: { task_id: 'h1', base_resp: { status_code: 0 } },
    query: 'GET /v1/query/video_generation',
    done: () => ({ task_id: 'h1', status: 'Success', file_id: '77', base_resp: {} }),
    failed: { task_id: 'h1', status: 'Fail', base_resp: { status_msg: 'unfit' } },
    refused: { body: { base_resp: { status_code: 2013, status_msg: 'the value is bad' } } },
    hold: 280_000,
    charge: 280_000,
    sent: { model: 'MiniMax-Hailuo-02', duration: 10, resolution: '768P' },
  },
  wan: {
    model: 'wan2.5-t2v-preview',
    body: { size: '1280x720', seconds: 10 },
    submit: 'POST /api/v1/services/aigc/video-generation/video-synthesis',
    accepted: { output: { task_id: 'w1', task_status: 'PENDING' } },
    query: 'GET /api/v1/tasks/w1',
    done: (video_url) => ({
      output: { task_status: 'SUCCEEDED', video_url },
      usage: { video_duration: 10 },
    }),
    failed: { output: { task_status: 'FAILED', message: 'the prompt was unfit' } },
    refused: { status: 400, body: { code: 'InvalidParameter', message: 'the value is bad' } },
    hold: 500_000,
    charge: 500_000,
    sent: { parameters: { size: '1280*720', duration: 10 } },
  },
}
