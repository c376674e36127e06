import type { FormatName } from '../../dialects/wire-format.ts'
import type { CallEndpoint } from './provider-profile.ts'

const embeddings = (path = '/v1/embeddings', models?: RegExp): CallEndpoint => ({
  format: 'embeddings',
  path,
  ...(models === undefined ? {} : { models }),
})
const rerank = (path = '/v1/rerank', models?: RegExp): CallEndpoint => ({
  format: 'rerank',
  path,
  ...(models === undefined ? {} : { models }),
})
const MODERATIONS: CallEndpoint = { format: 'moderations', path: '/v1/moderations' }

const VERTEX = '/v1/projects/{project}/locations/{region}/publishers/google/models/{model}'

/**
 * Returns the endpoint for Vertex AI's older embedding models, which have another format than the
 * newer ones.
 */
const predict = (format: FormatName): CallEndpoint => ({
  format,
  path: `${VERTEX}:predict`,
  models: /^(?:text-|textembedding-|gemini-embedding-001)/,
  isPredict: true,
})

/** The channel types of gateways and servers that offer OpenAI's API for models of any vendor. */
const GATEWAYS = [6, 7, 9, 10, 12, 13]

/**
 * The endpoints for embeddings, rerank and moderations that providers document, by channel type.
 * Calls in these formats are not converted, except to Vertex AI's `predict`. A provider that is not
 * listed here therefore receives no such calls.
 */
export const INPUT_ENDPOINTS: ReadonlyMap<number, readonly CallEndpoint[]> = new Map<
  number,
  readonly CallEndpoint[]
>([
  [1, [embeddings(), MODERATIONS]],
  [
    3,
    [
      // The paths of Azure's newer API contain neither deployments nor versions.
      { ...embeddings('/openai/v1/embeddings'), bases: /\/openai\/v1\/?$/ },
      embeddings('/openai/deployments/{model}/embeddings?api-version={other}'),
    ],
  ],
  [4, [embeddings()]],
  ...GATEWAYS.map((type) => [type, [embeddings()]] as const),
  [8, [embeddings(), rerank(), MODERATIONS]],
  [17, [embeddings('/compatible-mode/v1/embeddings'), rerank('/compatible-api/v1/reranks')]],
  [20, [embeddings(), rerank()]],
  [
    24,
    [
      { format: 'gemini-embedding', path: '/v1beta/models/{model}:embedContent' },
      { format: 'gemini-embedding-batch', path: '/v1beta/models/{model}:batchEmbedContents' },
      // Google's endpoint in OpenAI's format takes the key as a bearer token.
      { ...embeddings('/v1beta/openai/embeddings'), takesBearer: true },
    ],
  ],
  [26, [embeddings('/api/paas/v4/embeddings'), rerank('/api/paas/v4/rerank')]],
  [27, [embeddings('/v1/embeddings', /^pplx-embed/)]],
  [
    34,
    [embeddings('/compatibility/v1/embeddings'), { ...rerank(), secondVersionPath: '/v2/rerank' }],
  ],
  [38, [embeddings(), rerank()]],
  [39, [embeddings('/client/v4/accounts/{other}/ai/v1/embeddings')]],
  [40, [embeddings(), rerank()]],
  [
    41,
    [
      {
        format: 'gemini-embedding',
        path: `${VERTEX}:embedContent`,
        models: /^gemini-embedding-(?!001)/,
      },
      predict('embeddings'),
      predict('gemini-embedding'),
      predict('gemini-embedding-batch'),
    ],
  ],
  [42, [embeddings(), MODERATIONS]],
  [44, [embeddings()]],
  [45, [embeddings('/api/v3/embeddings')]],
  [46, [embeddings('/v2/embeddings'), rerank('/v2/rerank')]],
  [47, [embeddings(), rerank()]],
])
