import type { Translations } from '../translation-types.ts'

export const request: Translations['request'] = {
  failed: 'The request failed',
  network: 'Error: no connection. Check your network and try again',
  noServer: 'This site is for demonstration only: it has no server',
  serverError: 'Error: internal server error, please contact the administrator',
  other: 'Error: {{message}}',
  requestId: 'Request ID',
  retryIn: 'Try again in {{seconds}} s',
  plainHttp: 'Served over plain HTTP: passwords and keys can be read on the way. Use HTTPS.',
  health: {
    offline: 'You are offline. This page updates by itself once you are back.',
    unreachable: 'Unable to connect to server. The data on this page may be out of date.',
    busy: 'Error: too many requests, please try again later',
    down: 'The server is not available. Retrying.',
  },
}
