/** `key` is a complete API key. `body` overrides or adds fields of a small default body. */
export const sendChat = (
  url: string,
  key: string,
  body: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'sim-small',
      messages: [{ role: 'user', content: 'hello' }],
      ...body,
    }),
  })
