import type { Dispatcher } from 'undici'

/**
 * Creates an undici interceptor that calls `onSent` when the connection is open. From then on, the
 * server may have received the request.
 */
export const onRequestSent =
  (onSent: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const { onRequestStart } = handler
    handler.onRequestStart = (...start) => {
      onSent()
      onRequestStart?.apply(handler, start)
    }
    return dispatch(options, handler)
  }
