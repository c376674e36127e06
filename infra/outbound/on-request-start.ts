import type { Dispatcher } from 'undici'

/**
 * Creates an undici interceptor that calls `onStart` when the connection is open. From then on, the
 * server may have received the request.
 */
export const onRequestStart =
  (onStart: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const handleStart = handler.onRequestStart
    handler.onRequestStart = (...start) => {
      onStart()
      handleStart?.apply(handler, start)
    }
    return dispatch(options, handler)
  }
