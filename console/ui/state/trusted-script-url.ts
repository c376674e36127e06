type ScriptPolicy = { createScriptURL: (url: string) => string }
type Globals = {
  trustedTypes?: { createPolicy: (name: string, rules: ScriptPolicy) => ScriptPolicy }
}

/**
 * Returns a function that returns the URL of a script in a form that trusted types accept. The
 * policy `policyName` permits only this URL.
 */
export function createScriptUrl(policyName: string, url: string): () => string {
  let policy: ScriptPolicy | undefined
  return () => {
    const { trustedTypes } = globalThis as Globals
    policy ??= trustedTypes?.createPolicy(policyName, { createScriptURL: () => url })
    return policy?.createScriptURL(url) ?? url
  }
}
