import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { Button } from '../elements/button.tsx'
import { CopyButton } from '../elements/copy-to-clipboard.tsx'
import { EmptyState } from './empty-state.tsx'

/**
 * Shows an error with the id of the failed request. A button calls `onRetry`, unless `onRetry` is
 * undefined or the status is 403.
 */
export function ErrorState(props: { error: Error; onRetry?: () => void; title?: string }) {
  const { t } = useTranslation()
  const { error } = props
  const requestId = error instanceof ApiError ? error.requestId : ''
  const detail = error instanceof ApiError ? error.detail : ''
  const isForbidden = error instanceof ApiError && error.status === 403
  return (
    <div role="alert">
      <EmptyState
        icon={isForbidden ? 'eyeOff' : 'alert'}
        title={isForbidden ? t('ui.forbidden') : props.title || error.message || t('ui.loadFailed')}
        body={
          <>
            {isForbidden || props.title !== undefined ? (
              <p>{error.message}</p>
            ) : (
              detail !== '' && <p>{detail}</p>
            )}
            <RequestId id={requestId} />
          </>
        }
        action={
          props.onRetry === undefined || isForbidden ? undefined : (
            <Button icon="refresh" onClick={props.onRetry}>
              {t('ui.retry')}
            </Button>
          )
        }
      />
    </div>
  )
}

/** Shows the id of a request with a button that copies it, or nothing if `id` is empty. */
export function RequestId({ id }: { id: string }) {
  const { t } = useTranslation()
  if (id === '') return null
  return (
    <span className="tg-request-id">
      {t('request.requestId')} <code>{id}</code>
      <CopyButton text={id} label={t('ui.copy')} />
    </span>
  )
}
