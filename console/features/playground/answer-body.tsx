import { useTranslation } from 'react-i18next'
import { serverCode } from '#console/api/api-error.ts'
import type { ToolCall } from '#console/api/read-chat-delta.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { RequestId } from '#console/ui/layout/error-state.tsx'
import type { ChatMessage } from './conversation.ts'
import { Markdown, SafeLink } from './markdown.tsx'
import { Picture } from './pictures.tsx'

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
      <Images addresses={message.images ?? []} />
      <ToolCalls calls={message.toolCalls ?? []} />
      {error !== undefined && <AnswerError {...error} />}
      {message.isStopped === true && <p className="tg-hint">{t('playground.stopped')}</p>}
    </div>
  )
}

/** Shows the pictures of an answer. Those on other servers are shown as links. */
const Images = ({ addresses }: { addresses: readonly string[] }) =>
  addresses.map((address, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pictures are only appended
    <p key={at} className="tg-answer-picture">
      <Picture address={address} otherwise={<SafeLink href={address}>{address}</SafeLink>} />
    </p>
  ))

function ToolCalls({ calls }: { calls: readonly ToolCall[] }) {
  const { t } = useTranslation()
  return calls.map(({ name, input }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tool calls are only appended
    <p key={at} className="tg-tool-call">
      {t('playground.toolCall')} <code>{`${name}(${input})`}</code>
    </p>
  ))
}

function AnswerError({ message, code, requestId }: NonNullable<ChatMessage['error']>) {
  return (
    <div className="tg-chat-message-error" role="alert">
      <Icon name="alert" />
      <div>
        <p>{message}</p>
        <p className="tg-chat-message-error-data">
          {serverCode(code) !== '' && <code>{code}</code>}
          <RequestId id={requestId} />
        </p>
      </div>
    </div>
  )
}
