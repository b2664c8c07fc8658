package org.apache.iceberg.rest;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * The REST catalog of iceberg-open-api's test fixtures, on the loopback interface: the fixtures'
 * own main listens on every one. Arguments: a port, and key=value properties of the catalog below.
 */
public class Loopback {
  public static void main(String[] args) throws Exception {
    Map<String, String> properties = new HashMap<>();
    for (int i = 1; i < args.length; i++) {
      int at = args[i].indexOf('=');
      properties.put(args[i].substring(0, at), args[i].substring(at + 1));
    }
    properties.putIfAbsent("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.putIfAbsent("jdbc.schema-version", "V1");
    Catalog below = CatalogUtil.buildIcebergCatalog("rest_backend", properties, new Configuration());
    RESTCatalogAdapter adapter =
        new RESTServerCatalogAdapter(new RESTCatalogServer.CatalogContext(below, properties));
    ServletContextHandler handler = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    handler.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");
    handler.insertHandler(new GzipHandler());
    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    server.setHandler(handler);
    server.start();
    System.err.println("listening");
    server.join();
  }
}
