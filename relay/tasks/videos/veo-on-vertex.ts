import { objectOrEmpty, textOrEmpty } from '#relay/canonical/json-values.ts'
import { listOfObjects } from '../parse-provider-json.ts'
import { endOf, instanceOf, isVeo2, parametersOf, VEO } from './veo.ts'
import { accepted, defined, refused, type VendorCall, type VideoVendor } from './video-vendor.ts'

const MODEL_PATH = '/v1/projects/{project}/locations/{region}/publishers/google/models/{model}'
/**
 * Matches the name of an operation after its project and region. Callers do not see the project and
 * region.
 */
const OPERATION = /^publishers\/google\/models\/([\w.-]+)\/operations\/[\w.-]+$/
const PLACE = /^projects\/[\w.:-]+\/locations\/[\w-]+\//

/**
 * Returns the model that the name of an operation contains, or an empty text if the name is
 * malformed.
 */
const modelIn = (name: string): string =>
  PLACE.test(name) ? (OPERATION.exec(name.replace(PLACE, ''))?.[1] ?? '') : ''

/**
 * Returns the request that asks about an operation. Because no storage bucket is used, the response
 * contains the video itself. Long texts in the response are therefore cut when polling.
 */
const operationQuery = (operation: string): VendorCall => ({
  method: 'POST',
  path: `${MODEL_PATH}:fetchPredictOperation`,
  model: modelIn(operation),
  body: { operationName: operation },
  hasLongTexts: true,
})

/**
 * The vendor Veo on Vertex AI (cloud.google.com/vertex-ai, "Veo on Vertex AI API"). The video is in
 * the result of its operation, so the operator needs no storage bucket.
 */
export const VEO_ON_VERTEX: VideoVendor = {
  platform: VEO.platform,
  imagesMax: VEO.imagesMax,
  takesLastImage: VEO.takesLastImage,
  media: VEO.media,
  submit: (request, media, { model }) => ({
    method: 'POST',
    path: `${MODEL_PATH}:predictLongRunning`,
    model,
    body: {
      instances: [instanceOf(request)],
      parameters: defined({
        ...parametersOf(request, media, model),
        // Videos of the Gemini API always have sound, and their price includes the sound. Videos
        // from Vertex AI have the same price, so they also get sound.
        generateAudio: isVeo2(model) ? null : true,
      }),
    },
  }),
  readSubmitted: ({ name, error }) =>
    modelIn(textOrEmpty(name)) === ''
      ? refused(null, objectOrEmpty(error).message)
      : accepted(name),
  query: operationQuery,
  readReport: ({ name, done, error, response }) => {
    if (done !== true) return typeof name === 'string' ? { status: 'IN_PROGRESS' } : null
    const made = objectOrEmpty(response)
    const [video] = listOfObjects(made.videos)
    const { bytesBase64Encoded: text, mimeType } = objectOrEmpty(video)
    const hasVideo = typeof text === 'string' && text !== ''
    const type = typeof mimeType === 'string' ? mimeType : 'video/mp4'
    return endOf(error, made, hasVideo ? type : null)
  },
  source: (operation, type) => ({
    ...{ kind: 'inline', call: operationQuery(operation), type, member: 'bytesBase64Encoded' },
  }),
}
