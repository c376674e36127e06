import { describe, expect, it, vi } from 'vitest'
import { hasFile, searchBudget } from '#relay/canonical/files-in-unread-members.ts'

const URL_OF_FILE = 'https://a.example/1.png'
const SHA_256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const isFile = (name: string, value: unknown) => hasFile(name, value, searchBudget())

describe('a member that is not read', () => {
  it.each([
    ['image_url', URL_OF_FILE],
    ['lastframe', URL_OF_FILE],
    ['keyframes', [{ at: 0, url: URL_OF_FILE }]],
    ['firstFrameBytes', 'iVBORw0K'.repeat(8)],
    ['mask', `${SHA_256}${SHA_256}${SHA_256}`],
    ['other', `[{"type":"image_url","image_url":{"url":"${URL_OF_FILE}"}}]`],
    ['input_file_id', 'file-1'],
    ['upload_file_id', 'file-1'],
    ['input_image_upload_url', URL_OF_FILE],
    ['init_image', URL_OF_FILE],
    ['subject_reference', [{ image_file: URL_OF_FILE }]],
    ['files', [URL_OF_FILE]],
    ['uploaded_images', [URL_OF_FILE]],
    ['output_image', 'data:image/png;base64,QUJD'],
    ['metadata_image', URL_OF_FILE],
    ['part', { type: 'image', source: { type: 'base64', data: 'iVBORw0K'.repeat(8) } }],
    ['part', { type: 'input_image', source: { url: URL_OF_FILE } }],
    ['source', { type: 'base64', media_type: 'image/png', data: 'QUJD' }],
    ['part', { inlineData: { mimeType: 'image/png', data: 'QUJD' } }],
    ['part', { inline_data: { mime_type: 'video/mp4', data: 'QUJD' } }],
    ['part', { file_data: { mime_type: 'audio/mpeg', file_uri: 'files/1' } }],
    ['part', { mime_type: 'image/png', content: 'QUJD' }],
    ['output_config', { reference_images: [URL_OF_FILE] }],
    ['outputOptions', { first_frame: URL_OF_FILE }],
  ])('is a file: %s with %j', (name, value) => {
    expect(isFile(name, value)).toBe(true)
  })

  it.each([
    ['framework', URL_OF_FILE],
    ['timeframe', URL_OF_FILE],
    ['unmasked', URL_OF_FILE],
    ['image_request_id', SHA_256],
    ['image_hash', `${SHA_256}${SHA_256}`],
    ['output_file_id', 'abc'],
    ['outputFileId', 'abc'],
    ['result_file_id', 'abc'],
    ['webhookFileId', 'abc'],
    ['x-metadata', { image_url: URL_OF_FILE }],
    ['client_metadata', { image_url: URL_OF_FILE, image: 'data:image/png;base64,QUJD' }],
    ['config', { requestMetaData: { image: URL_OF_FILE } }],
    ['output_image_url', URL_OF_FILE],
    ['outputImageUrl', URL_OF_FILE],
    ['image-upload-url', URL_OF_FILE],
    ['imageUploadUrl', URL_OF_FILE],
    ['save_image_to', URL_OF_FILE],
    ['image', { target_url: URL_OF_FILE }],
    ['output', { mime_type: 'image/png', image: { url: URL_OF_FILE } }],
    ['webhook', { image_url: URL_OF_FILE }],
    ['note', 'data:,a hat'],
    ['image_description', 'data: a chart, in blue'],
    ['note', 'data:text/plain;base64,QUJD'],
    ['format', { mime_type: 'image/png', quality: 'high', data: '' }],
    ['response_format', { type: 'image', detail: 'high' }],
  ])('is no file: %s with %j', (name, value) => {
    expect(isFile(name, value)).toBe(false)
  })

  it('is searched with a bounded number of steps', () => {
    const parse = vi.spyOn(JSON, 'parse')
    const budget = searchBudget()
    expect(hasFile('x', Array(50_000).fill('['), budget)).toBe(false)
    expect(parse).not.toHaveBeenCalled()
    for (let n = 0; n < 1_000; n += 1) expect(hasFile(`x${n}`, '[', budget)).toBe(false)
    expect(parse.mock.calls.length).toBeLessThanOrEqual(16)
    // What can't be searched completely counts as a file.
    expect(hasFile('x', Array(60_000).fill(1), budget)).toBe(true)
    expect(isFile('x', Array(1_000_000).fill(1))).toBe(true)
    expect(isFile('x', `[${'1,'.repeat(200_000)}1]`)).toBe(true)
    parse.mockRestore()
  })

  it('takes no longer to search because its name is long', () => {
    const name = 'qQ'.repeat(100_000)
    const begin = performance.now()
    expect(isFile('x', { [name]: Array(2_000).fill('a') })).toBe(false)
    expect(isFile(name, Array(2_000).fill('a'))).toBe(false)
    for (const part of ['output_', 'meta', 'target_upload_', 'a.output', 'input.', 'file_']) {
      expect(isFile('x', { [`${part.repeat(400_000)}x`]: Array(2_000).fill('a') })).toBe(false)
    }
    expect(performance.now() - begin).toBeLessThan(2_000)
  })
})
