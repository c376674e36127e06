import { useTranslation } from 'react-i18next'
import { failureName, parseOtherField } from '#console/api/usage-log-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { dollarText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'

/**
 * Explains why a call failed and that it cost nothing. Before a call is sent, quota is set aside
 * for it (the hold). When the call fails, the hold returns to the balance.
 */
export function FailureExplanation({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const {
    end,
    status_code: status,
    error_code: code,
    provider_message: providerMessage,
  } = parseOtherField(row)
  const name = failureName(end)
  return (
    <section className="tg-log-failure" aria-label={t('logDetails.failure.title')}>
      <h3>{t('logDetails.failure.title')}</h3>
      <p className="tg-log-reason">
        <strong>{name === null ? row.content : t(`usageLog.end.${name}`)}</strong>
        {status !== undefined && <span>{t('logDetails.attempts.status', { status })}</span>}
        {code !== undefined && <code>{code}</code>}
      </p>
      {name !== null && (
        <p className="tg-log-note">{t(`logDetails.failure.explanation.${name}`)}</p>
      )}
      {providerMessage !== undefined && providerMessage.trim() !== '' && (
        <ProviderMessage text={providerMessage} />
      )}
      <Account row={row} />
    </section>
  )
}

const MESSAGE_MAX = 500

/**
 * Shows the first 500 characters of the provider's error message. The server has already removed
 * secrets from this message.
 */
function ProviderMessage({ text }: { text: string }) {
  const { t } = useTranslation()
  const characters = [...text.trim()]
  const isTruncated = characters.length > MESSAGE_MAX
  return (
    <figure className="tg-log-said">
      <figcaption>{t('logDetails.failure.providerMessage')}</figcaption>
      <blockquote>
        {isTruncated ? `${characters.slice(0, MESSAGE_MAX - 1).join('')}…` : text}
      </blockquote>
    </figure>
  )
}

function Account({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const { hold } = parseOtherField(row)
  return (
    <table className="tg-log-table">
      <tbody>
        {hold !== undefined && (
          <>
            <AccountRow name={t('logDetails.failure.held')} quota={hold} />
            <AccountRow name={t('logDetails.failure.released')} quota={hold === 0 ? 0 : -hold} />
          </>
        )}
      </tbody>
      <tfoot>
        <AccountRow name={t('logDetails.price.total')} quota={row.quota} />
      </tfoot>
    </table>
  )
}

function AccountRow(props: { name: string; quota: number }) {
  const number = useNumberFormat()
  const rule = useMoneyRule()
  return (
    <tr>
      <th scope="row">{props.name}</th>
      <td className="tg-log-end">{number.format(props.quota)}</td>
      <td className="tg-log-end">
        <span className="tg-log-note">{dollarText(BigInt(props.quota), rule, 6)}</span>
      </td>
    </tr>
  )
}
