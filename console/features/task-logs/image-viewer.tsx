import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/icons.tsx'
import { Skeleton } from '#console/ui/skeleton.tsx'
import type { DrawingTask } from '#read-api/contract/task.ts'
import { TaskDialog } from './text-dialog.tsx'

/** A drawing as large as the window lets it be. */
export function ImageViewer(props: { task: DrawingTask; onClose: () => void }): ReactElement {
  const { t } = useTranslation()
  const { image_url: url, prompt } = props.task
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading')
  return (
    <TaskDialog title={t('taskLogs.image')} isWide onClose={props.onClose}>
      <div className="tg-task-image" aria-busy={state === 'loading'}>
        {state === 'failed' ? (
          <p className="tg-alert tg-alert-bad" role="alert">
            {t('taskLogs.imageFailed')}
          </p>
        ) : (
          <>
            {state === 'loading' && <Skeleton width={320} height={240} />}
            <img
              src={url}
              alt={prompt || t('taskLogs.image')}
              hidden={state === 'loading'}
              referrerPolicy="no-referrer"
              onLoad={() => setState('shown')}
              onError={() => setState('failed')}
            />
          </>
        )}
      </div>
      <p className="tg-task-caption">
        <span>{prompt}</span>
        <a href={url} target="_blank" rel="noreferrer">
          {t('taskLogs.openImage')}
          <Icon name="external" size={13} />
        </a>
      </p>
    </TaskDialog>
  )
}
