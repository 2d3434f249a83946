import http from 'node:http';
import https from 'node:https';

/** The sockets of this process towards providers: kept alive, newest first so that idle ones can close. */
export interface HttpClient {
  agentFor(url: URL): http.Agent;
  request(url: URL, options: { method: string; headers: string[] }): http.ClientRequest;
  close(): void;
}

/**
 * One agent pair for every provider. The SDKs' default transport reaches about half of the requests per second,
 * and a keep-alive pool of its own per SDK client would multiply idle sockets.
 */
export function createHttpClient(): HttpClient {
  const options: https.AgentOptions = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: 128, scheduling: 'lifo' };
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  const agentFor = (url: URL): http.Agent => (url.protocol === 'https:' ? secure : plain);
  return {
    agentFor,
    request(url, requestOptions) {
      const secured = url.protocol === 'https:';
      const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
      const path = url.pathname + url.search;
      const all = { ...requestOptions, protocol: url.protocol, host, port: url.port || undefined, path, agent: agentFor(url) };
      return secured ? https.request(all) : http.request(all);
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}
