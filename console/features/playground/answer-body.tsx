import { useTranslation } from 'react-i18next'
import { Icon } from '#console/ui/elements/icons.tsx'
import { RequestId } from '#console/ui/layout/error-state.tsx'
import type { ChatMessage } from './conversation.ts'
import { Markdown } from './markdown.tsx'

export function AnswerBody(message: ChatMessage) {
  const { t } = useTranslation()
  const { content, reasoning = '', status, error } = message
  return (
    <div>
      {reasoning !== '' && (
        <details className="tg-thoughts">
          <summary>
            {t(
              status === 'incomplete' && content === ''
                ? 'playground.thinking'
                : 'playground.reasoning',
            )}
          </summary>
          <p>{reasoning}</p>
        </details>
      )}
      {status === 'loading' && (
        <output className="tg-waiting" aria-label={t('playground.waiting')}>
          <span />
          <span />
          <span />
        </output>
      )}
      {content !== '' && <Markdown text={content} />}
      {error !== undefined && <AnswerError {...error} />}
      {message.isStopped === true && <p className="tg-hint">{t('playground.stopped')}</p>}
    </div>
  )
}

function AnswerError({ message, code, requestId }: NonNullable<ChatMessage['error']>) {
  return (
    <div className="tg-chat-message-error" role="alert">
      <Icon name="alert" />
      <div>
        <p>{message}</p>
        <p className="tg-chat-message-error-data">
          <code>{code}</code>
          <RequestId id={requestId} />
        </p>
      </div>
    </div>
  )
}
