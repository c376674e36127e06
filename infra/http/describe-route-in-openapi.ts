import type { SwaggerTransform } from '@fastify/swagger'
import {
  onlyAdmin,
  onlyAdminSession,
  onlyAuditor,
  onlyRoot,
  onlyRootSession,
  onlySession,
  onlySessionOfAnyPassword,
  onlyUser,
  onlyUserOfAnyPassword,
} from './access-checks.ts'
import { readsAfterPosition } from './after-position-header.ts'

const BY_SESSION: readonly unknown[] = [
  onlySession,
  onlySessionOfAnyPassword,
  onlyAdminSession,
  onlyRootSession,
]
const BY_ANY: readonly unknown[] = [
  onlyUser,
  onlyUserOfAnyPassword,
  onlyAuditor,
  onlyAdmin,
  onlyRoot,
]
const CHECKS: readonly unknown[] = [...BY_SESSION, ...BY_ANY]

export const SECURITY_SCHEMES = {
  session: { type: 'apiKey', in: 'cookie', name: 'session' },
  accessToken: { type: 'http', scheme: 'bearer' },
} as const

const USER_ID = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,14}$',
  description: 'The id of the caller. A missing or different id is answered with 401.',
}

const AFTER_POSITION = {
  type: 'string',
  pattern: '^[0-9]{1,16}$',
  description: 'Wait until the answer includes this position, the X-Position of a write.',
}

/** Adds a route's requirements (session or token, headers) to its OpenAPI description. */
export const describeRoute: SwaggerTransform = ({ schema, url, route }) => {
  const checks: readonly unknown[] = [route.onRequest, route.preHandler].flat()
  const isGuarded = checks.some((check) => CHECKS.includes(check))
  const byToken = checks.some((check) => BY_SESSION.includes(check)) ? [] : [{ accessToken: [] }]
  const waits = checks.some(readsAfterPosition)
  const headers = {
    type: 'object',
    properties: {
      ...(isGuarded ? { 'User-Id': USER_ID } : {}),
      ...(waits ? { 'X-After-Position': AFTER_POSITION } : {}),
    },
    required: isGuarded ? ['User-Id'] : [],
  }
  return {
    url,
    schema: {
      ...schema,
      ...(isGuarded || waits ? { headers } : {}),
      security: isGuarded ? [{ session: [] }, ...byToken] : [],
    },
  }
}
