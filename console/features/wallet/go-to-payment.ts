import type { PaymentPage } from '#console/api/wallet/pay.ts'

/**
 * Leaves for the payment page: by a hidden form, or by going there. `onBlocked`: the page's policy
 * names another gateway, as the options were when it was loaded.
 */
export function goToPayment({ fields, url }: PaymentPage, onBlocked: () => void): void {
  if (!/^https?:\/\//.test(url)) throw new Error('a payment page has an http address')
  if (Object.keys(fields).length === 0) {
    window.location.assign(url)
    return
  }
  const form = document.createElement('form')
  form.method = 'post'
  form.action = url
  form.hidden = true
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    input.type = 'hidden'
    input.name = name
    input.value = value
    form.append(input)
  }
  document.addEventListener('securitypolicyviolation', onBlocked, { once: true })
  document.body.append(form)
  // NOTE: a gateway may call a field `submit`, which would hide the form's own.
  HTMLFormElement.prototype.submit.call(form)
  form.remove()
}
