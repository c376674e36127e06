import { randomUUID } from 'node:crypto'
import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import compress from '@fastify/compress'
import cookie from '@fastify/cookie'
import swagger from '@fastify/swagger'
import {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify'
import type { Core } from '../core-dependencies.ts'
import { type AccessDeps, requireAccessAfterBody } from './access-checks.ts'
import { canonicalTarget } from './canonical-request-target.ts'
import { compileSchemasOnDemand } from './compile-schemas.ts'
import { describeRoute, SECURITY_SCHEMES } from './describe-route-in-openapi.ts'
import { addErrorAnswers, answerClientError, answerFrameworkError } from './error-handlers.ts'
import { httpError } from './http-error-class-and-catalogue.ts'
import { acceptJsonOnly, rejectBadText } from './json-body.ts'
import { rejectCrossSite } from './origin-checks.ts'
import type { FindAccessToken, FindPrincipals } from './principal.ts'
import { addSecurityHeaders, isApi } from './security-headers.ts'
import { createSessions } from './sessions.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Allows requests with the header `X-Scratch-Copy`, which name a scratch copy: the read models
     * as of an earlier position. With `copy`, the response is read from this copy. With `live`, the
     * response is read from the live site. Without this field, the route refuses such requests.
     */
    readonly scratchCopy?: 'copy' | 'live'
  }
}

type HttpAppOptions = {
  /**
   * Finds the users of sessions. Called for every request with a session, and regularly for open
   * streams and sockets.
   */
  readonly findPrincipals: FindPrincipals
  /** Finds the owner of an access token. Without this function, access tokens are not accepted. */
  readonly findAccessToken?: FindAccessToken
  /** Creates the HTTP server. Needed if other code also handles requests on the same port. */
  readonly serverFactory?: (handler: RequestListener) => Server
  /** Reports whether the request on this socket may take longer than the request timeout. */
  readonly mayContinue?: (socket: Socket) => boolean
  /**
   * Reports whether the process shuts down. New API requests are then refused, while running
   * requests continue.
   */
  readonly isDraining?: () => boolean
  /** Reports whether events can be written. If not, requests that write are refused. */
  readonly isWritable?: () => boolean
  /**
   * Reports whether the read models belong to another release. If true, an internal error is
   * answered with 503, because an upgrade may have caused it.
   */
  readonly areReadModelsOther?: () => Promise<boolean>
}

const BODY_BYTES_MAX = 1_048_576
/** The `Retry-After` during a shutdown. Within this time, another process should be ready. */
const DRAIN_RETRY_SECONDS = 5
const DISK_RETRY_SECONDS = 5
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Creates the app for the write and read APIs, the console's pages and the health routes. The app
 * provides validation, the error envelope, request ids, security headers, origin checks and
 * sessions. `app.swagger()` describes the routes below `/api` that are registered afterwards.
 */
export async function createHttpApp(core: Core, options: HttpAppOptions): Promise<FastifyInstance> {
  const app: FastifyInstance = fastify(settings(core, options))
  compileSchemasOnDemand(app)
  acceptJsonOnly(app)
  addErrorAnswers(app, options.areReadModelsOther)
  await registerPlugins(app)
  const sessions = await createSessions(core.pg, core.now)
  const { findPrincipals, findAccessToken = async () => null } = options
  const { now, vault } = core
  const keyedHash: AccessDeps['keyedHash'] = (purpose, text) => vault.keyedHash(purpose, text)
  const gate: AccessDeps = { sessions, findPrincipals, findAccessToken, keyedHash, now }
  app.decorate('gate', gate)
  app.decorateRequest('principal', null)
  app.decorateRequest('admittedAt', 0)
  app.decorateRequest('sealedClient', null)
  addHooks(app, options)
  sweepSessions(app, core)
  return app
}

function settings(
  core: Core,
  { serverFactory, mayContinue }: HttpAppOptions,
): FastifyHttpOptions<Server> {
  return {
    loggerInstance: quiet(core.log) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: core.config.trustProxy.length > 0 ? [...core.config.trustProxy] : false,
    requestIdHeader: false,
    genReqId: requestId,
    requestTimeout: 120_000,
    keepAliveTimeout: 72_000,
    maxRequestsPerSocket: 1_000,
    rewriteUrl: (request) => canonicalTarget(request.url ?? '', request.headers.host),
    http: { headersTimeout: 15_000, maxHeaderSize: 16_384 },
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    clientErrorHandler: (error, socket) => {
      const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (isTimeout && mayContinue?.(socket) === true) return
      answerClientError(error, socket)
    },
    frameworkErrors: answerFrameworkError,
    ...(serverFactory === undefined ? {} : { serverFactory: (handler) => serverFactory(handler) }),
  }
}

/**
 * If the log level is `info`, hides Fastify's lines of this level. The lines for the operator would
 * otherwise be hard to find.
 */
const quiet = (log: Core['log']): Core['log'] =>
  log.level === 'info' ? log.child({}, { level: 'warn' }) : log

async function registerPlugins(app: FastifyInstance): Promise<void> {
  await app.register(cookie)
  // NOTE: `customTypes` does not include event streams, because compression would delay their
  // events.
  await app.register(compress, {
    encodings: ['gzip'],
    threshold: 2_048,
    // Higher levels need three times as much CPU time and save only a sixth of the bytes.
    zlibOptions: { level: 1 },
    customTypes: /^(application\/json|text\/(html|css|plain|javascript)|image\/svg\+xml)\b/,
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tallygate management API', version: '1' },
      components: { securitySchemes: SECURITY_SCHEMES },
    },
    transform: describeRoute,
  })
}

function addHooks(app: FastifyInstance, options: HttpAppOptions): void {
  const { isDraining = () => false, isWritable = () => true } = options
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    addSecurityHeaders(request, reply)
    if (!isApi(request)) return
    rejectCrossSite(request)
    if (isDraining()) throw httpError('Draining', {}, DRAIN_RETRY_SECONDS)
    if (request.headers['x-scratch-copy'] !== undefined) requireCopyRoute(request)
    if (!isWritable() && !READS.has(request.method))
      throw httpError('Unavailable', {}, DISK_RETRY_SECONDS)
  })
  app.addHook('preValidation', async (request) => {
    await requireAccessAfterBody(request)
    rejectBadText(request.query, 'query')
    rejectBadText(request.params, 'params')
  })
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request
    // NOTE: the route's pattern is logged instead of the URL, whose query may contain a secret.
    request.log.debug(
      {
        method,
        route: routeOptions.url ?? 'none',
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'request',
    )
  })
}

/**
 * Throws for a request that names a scratch copy, if the request would write or if scratch copies
 * lack the data of the route.
 */
function requireCopyRoute({ method, routeOptions }: FastifyRequest): void {
  if (!READS.has(method)) throw httpError('ScratchCopyReadOnly')
  if (routeOptions.config.scratchCopy === undefined) throw httpError('NotInScratchCopy')
}

const SWEEP_EVERY_MS = 600_000

function sweepSessions(app: FastifyInstance, core: Core): void {
  const timer = setInterval(() => {
    app.gate.sessions.sweep().catch((error: unknown) => {
      core.log.warn({ err: error }, 'expired sessions could not be removed')
    })
  }, SWEEP_EVERY_MS)
  timer.unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/**
 * Creates the request id, which responses, logs and events contain. An id that the client sends is
 * ignored.
 */
const requestId = (): string => randomUUID()
