// A proxy that adds the token to the requests of MCP's conformance suite, which has no option for it: `with-token.mjs URL TOKEN` prints the URL
// for the suite. Host and Origin are passed on with the server's port in place of the proxy's.
import http from "node:http";

const [url, token] = process.argv.slice(2);
const server = new URL(url);
const proxy = http.createServer((request, response) => {
    const port = proxy.address().port;
    const toServer = (value) => value?.replace(`:${port}`, `:${server.port}`);
    const headers = { ...request.headers, host: toServer(request.headers.host), authorization: `Bearer ${token}` };
    if (headers.origin) headers.origin = toServer(headers.origin);
    const { method, url: path } = request;
    const onward = http.request({ host: server.hostname, port: server.port, path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    // A closed client closes the connection to the server.
    response.on("close", () => onward.destroy());
    request.pipe(onward);
});
proxy.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${proxy.address().port}${server.pathname}`));
